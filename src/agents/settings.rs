//! Our hooks in an agent's settings: a text goes in, a text comes out.
//!
//! Both agents read the same form: `hooks`, an object of lists by event; an item of these has a `matcher` and a list
//! `hooks` of handlers with `type`, `command` and `timeout` (seconds).
#![forbid(unsafe_code)]

use std::path::Path;

use serde_json::json;

use super::AgentsError;
use super::agent::{Agent, Hook, Level};
use super::document::{self, Node};
use super::edit::{Style, put, take};

/// What a file is that we have made ourselves, before our hooks are in it.
pub(super) const EMPTY: &str = "{}\n";

/// A handler of ours, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Found {
    hook: Hook,
    event: usize,
    group: usize,
    handler: usize,
    /// Others stand in the same group.
    shared: bool,
}

/// The settings, read.
pub(super) struct Settings<'a> {
    text: &'a str,
    root: Node,
}

impl<'a> Settings<'a> {
    /// Reads them; `path` is for what is wrong with them.
    pub(super) fn read(text: &'a str, path: &Path) -> Result<Self, AgentsError> {
        let root = document::parse(text).map_err(|flaw| {
            let (line, column) = document::place(text, flaw.at);
            AgentsError::NotJson { path: path.to_owned(), line, column, what: flaw.what }
        })?;
        let shape = |what: &str| AgentsError::Shape { path: path.to_owned(), what: what.to_owned() };
        let members = root.members().ok_or_else(|| shape("it is no object"))?;
        if members.iter().filter(|member| member.key == "hooks").count() > 1 {
            return Err(shape("it has two members called hooks"));
        }
        if let Some(hooks) = root.get("hooks") {
            let events = hooks.members().ok_or_else(|| shape("hooks is no object"))?;
            for event in events {
                if event.node.items().is_none() {
                    return Err(shape(&format!("hooks.{:?} is no list", event.key)));
                }
            }
        }
        Ok(Self { text, root })
    }

    /// Whether they switch every hook off.
    pub(super) fn are_off(&self) -> bool {
        let off = self.root.get("disableAllHooks");
        off.is_some_and(|off| &self.text[off.span.clone()] == "true")
    }

    /// Our hooks that stand in them.
    pub(super) fn ours(&self) -> Vec<Hook> {
        self.found().into_iter().map(|found| found.hook).collect()
    }

    /// The text with these hooks and no others of ours.
    pub(super) fn with(&self, hooks: &[Hook], path: &Path) -> Result<String, AgentsError> {
        let mut there = self.ours();
        let mut wanted = hooks.to_vec();
        let key = |hook: &Hook| (hook.event.clone(), hook.matcher.clone());
        there.sort_by_key(key);
        wanted.sort_by_key(key);
        if there == wanted {
            return Ok(self.text.to_owned());
        }
        let mut text = self.without(path)?;
        for hook in hooks {
            text = added(&text, hook, path)?;
        }
        Ok(text)
    }

    /// The text without our hooks, and without what is empty then.
    pub(super) fn without(&self, path: &Path) -> Result<String, AgentsError> {
        let mut text = self.text.to_owned();
        // Each step takes one away, so this ends.
        loop {
            let settings = Settings::read(&text, path)?;
            let Some(less) = settings.found().last().and_then(|found| settings.less(found)) else { return Ok(text) };
            text = less;
        }
    }

    fn less(&self, found: &Found) -> Option<String> {
        let hooks = self.root.get("hooks")?;
        let event = hooks.members()?.get(found.event)?;
        let groups = event.node.items()?;
        if found.shared {
            return Some(take(self.text, groups.get(found.group)?.get("hooks")?, found.handler));
        }
        if groups.len() > 1 {
            return Some(take(self.text, &event.node, found.group));
        }
        if hooks.members()?.len() > 1 {
            return Some(take(self.text, hooks, found.event));
        }
        let number = self.root.members()?.iter().position(|member| member.key == "hooks")?;
        Some(take(self.text, &self.root, number))
    }

    fn found(&self) -> Vec<Found> {
        let events = self.root.get("hooks").and_then(Node::members).unwrap_or_default();
        let mut found = Vec::new();
        for (event, member) in events.iter().enumerate() {
            for (group, node) in member.node.items().unwrap_or_default().iter().enumerate() {
                let handlers = node.get("hooks").and_then(Node::items).unwrap_or_default();
                for (handler, one) in handlers.iter().enumerate() {
                    let Some(command) = one.get("command").and_then(Node::text).filter(|it| called(it).is_some())
                    else {
                        continue;
                    };
                    let timeout = one.get("timeout").and_then(|it| self.text[it.span.clone()].parse().ok());
                    let hook = Hook {
                        event: member.key.clone(),
                        matcher: node.get("matcher").and_then(Node::text).map(str::to_owned),
                        command: command.to_owned(),
                        timeout: timeout.unwrap_or_default(),
                    };
                    found.push(Found { hook, event, group, handler, shared: handlers.len() > 1 });
                }
            }
        }
        found
    }
}

/// The word by which a command that we have put there calls `locked`, wherever that was then; none: it is not ours. A line that
/// does more than ours ever did is somebody's own.
pub(super) fn called(command: &str) -> Option<&str> {
    let rest = [" agents check", " agents check codex"].iter().find_map(|end| command.strip_suffix(end))?;
    let word = match rest.strip_prefix("! command -v ") {
        Some(guarded) => guarded.split_once(" >/dev/null || ").filter(|(there, word)| there == word)?.1,
        None => rest,
    };
    let quoted = word.strip_prefix('\'').and_then(|word| word.strip_suffix('\''));
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+@%,:=~".contains(&byte) || !byte.is_ascii();
    let word = match quoted {
        Some(quoted) if quoted.replace("'\\''", "").contains('\'') => return None,
        Some(quoted) => quoted,
        None if word.bytes().all(is_plain) => word,
        None => return None,
    };
    crate::program::is_our_name(Path::new(word).file_name()?).then_some(word)
}

fn added(text: &str, hook: &Hook, path: &Path) -> Result<String, AgentsError> {
    let Settings { root, .. } = Settings::read(text, path)?;
    let style = Style::of(text, &root);
    let handler = json!({"type": "command", "command": hook.command, "timeout": hook.timeout});
    let group = match &hook.matcher {
        Some(matcher) => json!({"matcher": matcher, "hooks": [handler]}),
        None => json!({"hooks": [handler]}),
    };
    Ok(match (root.get("hooks"), root.get("hooks").and_then(|hooks| hooks.get(&hook.event))) {
        (_, Some(list)) => put(text, &style, list, 2, None, &group),
        (Some(hooks), None) => put(text, &style, hooks, 1, Some(&hook.event), &json!([group])),
        (None, None) => put(text, &style, &root, 0, Some("hooks"), &json!({hook.event.as_str(): [group]})),
    })
}

/// Of which agents' hooks this is a whole set, by whatever word `locked` is called.
pub(super) fn is_whole(agent: Agent, there: &[Hook]) -> bool {
    let plain = |hooks: &[Hook]| {
        let mut plain: Vec<_> = hooks.iter().map(|hook| (hook.event.clone(), hook.matcher.clone())).collect();
        plain.sort();
        plain
    };
    plain(there) == plain(&agent.hooks(Level::Project, "locked"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_ours_if_it_is_all_that_we_write() {
        for (command, word) in [
            ("locked agents check", Some("locked")),
            ("/opt/x/locked agents check codex", Some("/opt/x/locked")),
            ("'/an old/locked' agents check", Some("/an old/locked")),
            ("! command -v locked >/dev/null || locked agents check", Some("locked")),
            ("./guard.sh && locked agents check", None),
            ("./guard.sh;locked agents check", None),
            ("'x' && 'locked' agents check", None),
            ("A=1 locked agents check", None),
            ("! command -v other >/dev/null || locked agents check", None),
            ("locked agents check && more", None),
            ("mine agents check", None),
        ] {
            assert_eq!(called(command), word, "{command}");
        }
    }
}
