//! Our answer, in the form that the agents expect.
//!
//! Before a tool is used they read `hookSpecificOutput` with `permissionDecision` and `permissionDecisionReason` from
//! standard output of a hook that ends with 0 (Claude Code, "PreToolUse decision control"; Codex reads the same, and
//! takes `allow` for a mistake). We never say `allow`: that would pass over the agent's own question to its person. Who
//! says nothing leaves the call to the agent's own rules.
#![forbid(unsafe_code)]

use serde_json::{Value, json};

/// What we say of a tool's use.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Judgement {
    /// Nothing.
    Pass,
    /// Nothing against it, and this to be known.
    Told(String),
    /// No, and this is why and what to do.
    Deny(String),
}

/// What is printed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Answer {
    /// Before a tool is used.
    Tool(Judgement),
    /// At the start of a session: what it is to know.
    Start(String),
}

impl Answer {
    /// The same, and what was said besides: words that others have left for this session.
    pub fn and(self, said: &[String]) -> Self {
        if said.is_empty() {
            return self;
        }
        let more = said.join("\n");
        match self {
            Self::Tool(Judgement::Pass) => Self::Tool(Judgement::Told(more)),
            Self::Tool(Judgement::Told(text)) => Self::Tool(Judgement::Told(format!("{text}\n{more}"))),
            Self::Tool(deny @ Judgement::Deny(_)) => Self::Tool(deny),
            Self::Start(text) => Self::Start(format!("{text}\n{more}")),
        }
    }

    /// The JSON on standard output; none where nothing is said.
    #[must_use]
    pub fn json(&self) -> Option<Value> {
        let said = match self {
            Self::Tool(Judgement::Pass) => return None,
            Self::Tool(Judgement::Told(text)) => json!({"hookEventName": "PreToolUse", "additionalContext": text}),
            Self::Tool(Judgement::Deny(why)) => json!({
                "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": why,
            }),
            Self::Start(text) => json!({"hookEventName": "SessionStart", "additionalContext": text}),
        };
        Some(json!({"hookSpecificOutput": said}))
    }
}
