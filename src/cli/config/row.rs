//! One line of `locked config show`: a key, its value, and who says so.
#![forbid(unsafe_code)]

use std::path::Path;
use std::time::Duration;

use clap::ArgMatches;
use clap::parser::ValueSource;
use serde_json::{Value as Json, json};

use crate::cli::RunOptions;
use crate::config::{Address, Key, Settings, Source, Sourced, StoreSetting, Value};
use crate::run::{self, Context};
use crate::store;
use crate::terms::Times;

/// One line.
pub(super) struct Row {
    pub(super) key: Key,
    /// The value as TOML; none where there is none, or where it is not shown as it is.
    pub(super) text: Option<String>,
    pub(super) value: Json,
    pub(super) from: Option<Source>,
}

/// What clap, a person and the environment call an option.
type Names = (&'static str, &'static str, &'static str);

/// What is asked for every key.
pub(super) struct Teller<'a> {
    pub(super) context: &'a Context,
    pub(super) options: &'a RunOptions,
    pub(super) matches: &'a ArgMatches,
    pub(super) settings: &'a Settings,
    pub(super) times: Times,
}

impl Teller<'_> {
    pub(super) fn row(&self, key: Key) -> Row {
        if key == Key::Store {
            return self.store();
        }
        if key.is_table() {
            let count = self.settings.count(key);
            return Row { key, text: None, value: json!(count), from: None };
        }
        let said = self.value(key);
        let text = said.as_ref().map(|said| said.value.toml());
        let value = said.as_ref().map_or(Json::Null, |said| said.value.json());
        Row { key, text, value, from: said.map(|said| said.from) }
    }

    fn value(&self, key: Key) -> Option<Sourced<Value>> {
        let length = |length, from| Some(Sourced { value: Value::Length(length), from });
        let (options, times) = (self.options, &self.times);
        match key {
            Key::Wait if options.no_wait => {
                length(Duration::ZERO, self.typed("no_wait", "--no-wait", "LOCKED_NO_WAIT"))
            }
            Key::Wait => match options.wait {
                Some(wait) => length(wait, self.typed("wait", "--wait", "LOCKED_WAIT")),
                None => self.of_file(key),
            },
            Key::Ttl => length(times.ttl, self.time(key, options.ttl, times.ttl, ("ttl", "--ttl", "LOCKED_TTL"))),
            Key::Heartbeat => {
                let names = ("heartbeat", "--heartbeat", "LOCKED_HEARTBEAT");
                length(times.heartbeat, self.time(key, options.heartbeat, times.heartbeat, names))
            }
            Key::RenewDeadline => {
                let names = ("renew_deadline", "--renew-deadline", "LOCKED_RENEW_DEADLINE");
                length(times.renew_deadline, self.time(key, options.renew_deadline, times.renew_deadline, names))
            }
            Key::Grace => {
                length(times.grace, self.time(key, options.grace, times.grace, ("grace", "--grace", "LOCKED_GRACE")))
            }
            Key::Scope if self.settings.value(key).is_none() => {
                run::origin_here(self.context).map(|scope| Sourced { value: Value::Text(scope), from: Source::Origin })
            }
            Key::StoppedMax | Key::RemoteHold if self.settings.value(key).is_none() => {
                length(times.ttl, Source::BuiltIn)
            }
            Key::Canary if options.no_canary => {
                let from = self.typed("no_canary", "--no-canary", "LOCKED_NO_CANARY");
                Some(Sourced { value: Value::Flag(false), from })
            }
            _ => self.of_file(key),
        }
    }

    fn of_file(&self, key: Key) -> Option<Sourced<Value>> {
        let ready = || key.ready().map(|value| Sourced { value, from: Source::BuiltIn });
        self.settings.value(key).cloned().or_else(ready)
    }

    /// Who says a time: what does not fit to the TTL does not count, and then it follows from it.
    fn time(&self, key: Key, asked: Option<Duration>, is: Duration, names: Names) -> Source {
        let of_file = self.settings.value(key).filter(|it| it.value == Value::Length(is)).map(|it| it.from.clone());
        match asked {
            Some(_) => self.typed(names.0, names.1, names.2),
            None => of_file.unwrap_or(Source::BuiltIn),
        }
    }

    fn typed(&self, id: &str, option: &'static str, variable: &str) -> Source {
        match self.matches.value_source(id) {
            Some(ValueSource::EnvVariable) => Source::Variable(variable.to_owned()),
            _ => Source::Typed(option),
        }
    }

    /// Where an address leads, never the address: it may have a password.
    fn store(&self) -> Row {
        let env = run::env_of(self.context);
        let place = |address: &str| match address {
            "embedded" => "embedded".to_owned(),
            _ => {
                let address = Address::Text(address.to_owned());
                store::shown_place(&StoreSetting { address, ..StoreSetting::default() }, &env, Path::new(""))
            }
        };
        let of_variable =
            || Some((env("LOCKED_STORE").filter(|it| !it.is_empty())?, Source::Variable("LOCKED_STORE".to_owned())));
        let chosen = self.context.store.clone().map(|it| (it, Source::Typed("--store"))).or_else(of_variable);
        let (said, from) = match (chosen, self.settings.value(Key::Store)) {
            (Some((address, from)), _) => (json!({"at": place(&address.to_string_lossy())}), from),
            (None, Some(Sourced { value: Value::Store(store), from })) => (store.shown(&place), from.clone()),
            _ => (json!({"at": "embedded"}), Source::BuiltIn),
        };
        Row { key: Key::Store, text: None, value: said, from: Some(from) }
    }
}
