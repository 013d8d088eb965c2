//! One call of one function: its arguments by name, each as a text that the server casts. The statement has no name, and
//! its types are told, so that it is one round trip and needs nothing of the session.
#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::terms::GrantId;

use super::schema::Schema;

/// A call. Never shown: arguments can carry a lease key.
pub(super) struct Call {
    function: Cow<'static, str>,
    arguments: Vec<(Cow<'static, str>, Cow<'static, str>, String)>,
}

/// The types of arguments.
#[cfg(unix)]
const KINDS: [&str; 7] = ["bigint", "boolean", "integer", "jsonb", "text", "uuid", "uuid[]"];

impl Call {
    pub(super) fn new(function: &'static str) -> Self {
        Self { function: Cow::Borrowed(function), arguments: Vec::new() }
    }

    /// An argument that is not there is left out: the function has a value ready.
    fn with(mut self, name: &'static str, kind: &'static str, value: Option<String>) -> Self {
        if let Some(value) = value {
            self.arguments.push((Cow::Borrowed(name), Cow::Borrowed(kind), value));
        }
        self
    }

    /// A text. The server's texts have no NUL.
    pub(super) fn text(self, name: &'static str, value: Option<&str>) -> Self {
        self.with(name, "text", value.map(|text| text.replace('\0', "")))
    }

    pub(super) fn uuid(self, name: &'static str, value: Option<String>) -> Self {
        self.with(name, "uuid", value)
    }

    pub(super) fn number(self, name: &'static str, value: Option<i64>) -> Self {
        self.with(name, "bigint", value.map(|it| it.to_string()))
    }

    pub(super) fn count(self, name: &'static str, value: Option<u32>) -> Self {
        self.with(name, "integer", value.map(|it| i32::try_from(it).unwrap_or(i32::MAX).to_string()))
    }

    pub(super) fn flag(self, name: &'static str, value: bool) -> Self {
        self.with(name, "boolean", Some(value.to_string()))
    }

    pub(super) fn json(self, name: &'static str, value: &serde_json::Value) -> Self {
        self.with(name, "jsonb", Some(value.to_string().replace("\\u0000", "")))
    }

    pub(super) fn grants(self, name: &'static str, grants: &[GrantId]) -> Self {
        let list = grants.iter().map(GrantId::to_string).collect::<Vec<_>>().join(",");
        self.with(name, "uuid[]", Some(format!("{{{list}}}")))
    }

    /// The statement.
    pub(super) fn sql(&self, schema: &Schema) -> String {
        let mut sql = format!("select {}(", schema.function(&self.function));
        for (index, (name, kind, _)) in self.arguments.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            let _infallible = write!(sql, "{comma}{name} => ${}::{kind}", index + 1);
        }
        sql.push_str(")::text");
        sql
    }

    /// Its parts, for another process of ours.
    #[cfg(unix)]
    pub(super) fn told(&self) -> (String, Vec<(String, String, String)>) {
        let arguments =
            self.arguments.iter().map(|(name, kind, value)| (name.to_string(), kind.to_string(), value.clone()));
        (self.function.to_string(), arguments.collect())
    }

    /// Of such parts; none where they are no call of the protocol's, or could be more than one.
    #[cfg(unix)]
    pub(super) fn of_told(function: &str, arguments: Vec<(String, String, String)>) -> Option<Self> {
        let plain = |word: &str| {
            !word.is_empty() && word.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'_')
        };
        let fits = plain(function)
            && function.ends_with("_v1")
            && arguments
                .iter()
                .all(|(name, kind, value)| plain(name) && KINDS.contains(&&**kind) && !value.contains('\0'));
        let owned = |(name, kind, value)| (Cow::Owned(name), Cow::Owned(kind), value);
        fits.then(|| Self {
            function: Cow::Owned(function.to_owned()),
            arguments: arguments.into_iter().map(owned).collect(),
        })
    }

    /// The values, in the statement's order.
    pub(super) fn values(&self) -> impl Iterator<Item = &String> {
        self.arguments.iter().map(|(_, _, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn what_is_told_is_the_same_call_and_nothing_but_a_call() {
        let call = Call::new("renew_v1").text("key", Some("it's")).number("ttl_ms", Some(5)).grants("grants", &[]);
        let (function, arguments) = call.told();
        let again = Call::of_told(&function, arguments).expect("a call");
        assert_eq!(again.sql(&Schema::default()), call.sql(&Schema::default()));
        assert_eq!(again.values().collect::<Vec<_>>(), call.values().collect::<Vec<_>>());
        let one = |name: &str, kind: &str| vec![(name.to_owned(), kind.to_owned(), String::new())];
        assert!(Call::of_told("pg_sleep", Vec::new()).is_none());
        assert!(Call::of_told("a(); drop table x; select b_v1", Vec::new()).is_none());
        assert!(Call::of_told("renew_v1", one("key => 'x'); --", "text")).is_none());
        assert!(Call::of_told("renew_v1", one("key", "text); --")).is_none());
    }

    #[test]
    fn what_is_not_there_is_left_out_and_no_value_is_in_the_statement() {
        let call = Call::new("renew_v1").text("key", Some("se\0cret")).text("rule", None).number("ttl_ms", Some(5));
        let sql = call.sql(&Schema::default());
        assert_eq!(sql, "select \"locked\".renew_v1(key => $1::text, ttl_ms => $2::bigint)::text");
        assert_eq!(call.values().collect::<Vec<_>>(), ["secret", "5"]);
    }
}
