//! The board on the server.
#![forbid(unsafe_code)]

use std::time::Duration;

use serde::Deserialize;

use crate::store::StoreError;
use crate::store::board::{Begun, Board, Figures, SessionView, WaitView, Word};
use crate::store::door::{shown, shown_whole};
use crate::terms::SessionId;

use super::PostgresStore;
use super::answer::{Named, span, uuid};
use super::call::Call;

/// A word.
#[derive(Deserialize)]
pub(super) struct Left {
    holder: String,
    about: String,
    text: String,
    at: i64,
}

impl Left {
    pub(super) fn read(self) -> Word {
        Word { holder: shown(&self.holder), about: shown(&self.about), text: shown_whole(&self.text), at: self.at }
    }
}

/// A session.
#[derive(Deserialize)]
struct Listed {
    session: String,
    name: String,
    domain: String,
    task: String,
    label: String,
    host: String,
    began_at: i64,
    seen_at: i64,
    idle_ms: i64,
    ended_at: Option<i64>,
}

impl Listed {
    fn read(self) -> Result<SessionView, StoreError> {
        Ok(SessionView {
            session: SessionId(uuid(&self.session)?),
            name: shown(&self.name),
            domain: shown(&self.domain),
            task: shown(&self.task),
            label: shown(&self.label),
            host: shown(&self.host),
            began_at: self.began_at,
            seen_at: self.seen_at,
            idle: span(self.idle_ms),
            ended_at: self.ended_at,
        })
    }
}

/// A request in line.
#[derive(Deserialize)]
struct Waits {
    holder: String,
    /// A schema of before does not say it.
    #[serde(default)]
    since: Option<i64>,
    resources: Vec<Named>,
}

impl Waits {
    fn read(self) -> Result<WaitView, StoreError> {
        let resources = self.resources.into_iter().map(Named::read).collect::<Result<_, _>>()?;
        Ok(WaitView { holder: shown(&self.holder), since: self.since, resources })
    }
}

#[derive(Deserialize)]
struct Over {
    ended: bool,
}

fn of(function: &'static str, session: SessionId) -> Call {
    Call::new(function).uuid("session", Some(session.whole()))
}

impl Board for PostgresStore {
    fn begin(&mut self, begun: &Begun, limit: Duration) -> Result<(), StoreError> {
        let call = of("session_begin_v1", begun.session)
            .text("name", Some(&begun.name))
            .text("domain", Some(&begun.domain))
            .text("task", Some(&begun.task))
            .text("label", Some(&begun.label))
            .text("host", Some(&begun.host));
        self.ask::<serde::de::IgnoredAny>(call, limit).map(drop)
    }

    fn end(&mut self, session: SessionId, limit: Duration) -> Result<bool, StoreError> {
        self.ask::<Over>(of("session_end_v1", session), limit).map(|over| over.ended)
    }

    fn sessions(&mut self, limit: Duration) -> Result<Vec<SessionView>, StoreError> {
        let listed: Vec<Listed> = self.ask(Call::new("sessions_v1"), limit)?;
        listed.into_iter().map(Listed::read).collect()
    }

    fn leave_word(&mut self, to: SessionId, word: &Word, limit: Duration) -> Result<(), StoreError> {
        let call = of("leave_word_v1", to)
            .text("about", Some(&shown(&word.about)))
            .text("word", Some(&shown_whole(&word.text)))
            .text("holder", Some(&shown(&word.holder)));
        self.ask::<serde::de::IgnoredAny>(call, limit).map(drop)
    }

    fn hear(&mut self, session: SessionId, limit: Duration) -> Result<Vec<Word>, StoreError> {
        let left: Vec<Left> = self.ask(of("hear_v1", session), limit)?;
        Ok(left.into_iter().map(Left::read).collect())
    }

    fn waiting(&mut self, limit: Duration) -> Result<Vec<WaitView>, StoreError> {
        let waits: Vec<Waits> = self.ask(Call::new("waiting_v1"), limit)?;
        waits.into_iter().map(Waits::read).collect()
    }

    fn figures(&mut self, limit: Duration) -> Result<Figures, StoreError> {
        self.ask(Call::new("figures_v1"), limit)
    }
}
