//! The board for programs.
#![forbid(unsafe_code)]

use serde_json::{Value, json};

use crate::clock::Clock as _;
use crate::run::Context;

use super::board::{Board, Seen, plaintext};

impl Board {
    /// Each lease, and with it who waits for it.
    pub(in crate::cli) fn objects(&self, context: &Context) -> Value {
        Value::Array(self.seen.iter().map(|seen| self.object(seen, context)).collect())
    }

    fn object(&self, Seen { lease, alive, name, keeper }: &Seen, context: &Context) -> Value {
        let left = lease.expires_in.map(|left| i64::try_from(left.as_millis()).unwrap_or(i64::MAX));
        json!({
            "scope": lease.resource.scope.to_string(),
            "resource": lease.resource.name.as_str(),
            "token": lease.token.0,
            "holder": lease.session.short(),
            "label": lease.label,
            "host": lease.host,
            "operation": lease.operation,
            "state": lease.state.as_str(),
            "holder_alive": alive,
            "acquired_at": lease.acquired_at,
            "renewed_at": lease.renewed_at,
            "expires_at": left.map(|left| context.clock.wall_ms().saturating_add(left)),
            "expires_in_ms": left,
            "idle_ms": i64::try_from(lease.idle.as_millis()).unwrap_or(i64::MAX),
            "waiters": lease.waiters,
            "waiting": self.line.behind(lease),
            "explicit": lease.explicit,
            "takeable": lease.takeable,
            "ask": lease.ask,
            "reason": lease.reason,
            "session_name": name,
            "plaintext": plaintext(lease).is_some(),
            "kept_alive_by": keeper,
        })
    }
}
