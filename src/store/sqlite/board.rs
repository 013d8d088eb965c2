//! The board in the file.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::time::Duration;

use rusqlite::Connection;

use crate::store::board::{Begun, Board, Figures, SEEN_ANEW, SessionView, WORDS, WaitView, Word};
use crate::store::door::{shown, shown_whole};
use crate::store::{Ended, Prune, StoreError};
use crate::terms::SessionId;

use super::SqliteStore;
use super::fault::Fault;
use super::ledger::{Now, ms, span};
use super::{queue, row};

impl Board for SqliteStore {
    fn begin(&mut self, begun: &Begun, limit: Duration) -> Result<(), StoreError> {
        self.ledger.write(limit, |connection, now| begin(connection, begun, now))
    }

    fn end(&mut self, session: SessionId, limit: Duration) -> Result<bool, StoreError> {
        self.ledger.write(limit, |connection, now| {
            let sql = "update sessions set ended_at = ?2, seen_at = ?2 where session = ?1 and ended_at is null";
            Ok(connection.execute(sql, (session.whole(), now.wall))? > 0)
        })
    }

    fn sessions(&mut self, limit: Duration) -> Result<Vec<SessionView>, StoreError> {
        self.ledger.read(limit, sessions)
    }

    fn leave_word(&mut self, to: SessionId, word: &Word, limit: Duration) -> Result<(), StoreError> {
        self.ledger.write(limit, |connection, now| leave_word(connection, to, word, now))
    }

    fn hear(&mut self, session: SessionId, limit: Duration) -> Result<Vec<Word>, StoreError> {
        // A look first: there is seldom a word, and whoever writes stands in line.
        let some = "select exists (select 1 from words where session = ?1) or exists (select 1 from sessions \
                    where session = ?1 and ended_at is null and seen_at <= ?2)";
        let waits = |connection: &Connection, now: &Now| {
            let before = now.wall.saturating_sub(ms(SEEN_ANEW));
            Ok(connection.query_row(some, (session.whole(), before), |row| row.get::<_, bool>(0))?)
        };
        if !self.ledger.read(limit, waits)? {
            return Ok(Vec::new());
        }
        self.ledger.write(limit, |connection, now| {
            let sql = "update sessions set seen_at = max(seen_at, ?2) where session = ?1 and ended_at is null";
            connection.execute(sql, (session.whole(), now.wall))?;
            heard(connection, session)
        })
    }

    fn waiting(&mut self, limit: Duration) -> Result<Vec<WaitView>, StoreError> {
        self.ledger.read(limit, waiting)
    }

    fn figures(&mut self, limit: Duration) -> Result<Figures, StoreError> {
        self.ledger.read(limit, figures)
    }
}

/// The requests in line that are not silent, the oldest first.
fn waiting(connection: &Connection, now: &Now) -> Result<Vec<WaitView>, Fault> {
    let tickets = queue::all(connection)?.into_iter().filter(|ticket| !ticket.silent(now));
    tickets
        .map(|ticket| {
            let mut resources = queue::resources(connection, ticket.id)?;
            resources.sort();
            Ok(ticket.view(resources))
        })
        .collect()
}

fn begin(connection: &Connection, begun: &Begun, now: &Now) -> Result<(), Fault> {
    connection.execute(
        "insert into sessions (session, name, domain, task, label, host, began_at, seen_at) \
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7) on conflict (session) do update set name = excluded.name, \
         domain = excluded.domain, task = excluded.task, label = excluded.label, host = excluded.host, \
         seen_at = excluded.seen_at, ended_at = null, \
         began_at = iif(ended_at is null, began_at, excluded.began_at)",
        (begun.session.whole(), &begun.name, &begun.domain, &begun.task, &begun.label, &begun.host, now.wall),
    )?;
    Ok(())
}

/// What a session did with leases is its activity: nothing is written for that. What keeps them alive in its name is not. The
/// ledger may be long, so each question is one that an index answers.
const SESSIONS: &str = "select s.*, iif(s.ended_at is null, max(s.seen_at, coalesce(l.last, 0), coalesce((select max(ended_at) \
    from leases where session = s.session and ended_at is not null), 0)), s.seen_at) as last from sessions s left join \
    (select session, max(max(acquired_at, renewed_at)) as last from leases where ended_at is null group by session) l \
    on l.session = s.session order by last desc, s.session";

fn sessions(connection: &Connection, now: &Now) -> Result<Vec<SessionView>, Fault> {
    let mut statement = connection.prepare(SESSIONS)?;
    let views = statement.query_map([], |row| {
        let text = |column: &str| row.get::<_, String>(column).map(|text| shown(&text));
        let seen_at: i64 = row.get("last")?;
        Ok(SessionView {
            session: SessionId(row::uuid(row, "session")?),
            name: text("name")?,
            domain: text("domain")?,
            task: text("task")?,
            label: text("label")?,
            host: text("host")?,
            began_at: row.get("began_at")?,
            seen_at,
            idle: span(now.wall.saturating_sub(seen_at)),
            ended_at: row.get("ended_at")?,
        })
    })?;
    Ok(views.collect::<rusqlite::Result<_>>()?)
}

fn leave_word(connection: &Connection, to: SessionId, word: &Word, now: &Now) -> Result<(), Fault> {
    connection.execute(
        "insert into words (session, holder, about, word, at) values (?1, ?2, ?3, ?4, ?5)",
        (to.whole(), shown(&word.holder), shown(&word.about), shown_whole(&word.text), now.wall),
    )?;
    connection.execute(
        "delete from words where session = ?1 and id not in (select id from words where session = ?1 order by id desc limit ?2)",
        (to.whole(), WORDS),
    )?;
    Ok(())
}

/// The words for a session, and they go: for who has the write lock.
pub(super) fn heard(connection: &Connection, session: SessionId) -> Result<Vec<Word>, Fault> {
    let sql = "select holder, about, word, at from words where session = ?1 order by id";
    let mut statement = connection.prepare_cached(sql)?;
    let words = statement.query_map([session.whole()], |row| {
        let text = |column: &str| row.get::<_, String>(column);
        let (holder, about, word) = (shown(&text("holder")?), shown(&text("about")?), shown_whole(&text("word")?));
        Ok(Word { holder, about, text: word, at: row.get("at")? })
    })?;
    let words = words.collect::<rusqlite::Result<Vec<_>>>()?;
    if !words.is_empty() {
        connection.execute("delete from words where session = ?1", [session.whole()])?;
    }
    Ok(words)
}

/// So many rows that were left to a person have ended in another way now. They are counted as what they were.
pub(super) fn count_as_left(connection: &Connection, now_as: Ended, rows: usize) -> Result<(), Fault> {
    let rows = i64::try_from(rows).unwrap_or(i64::MAX);
    for (what, by) in [(Ended::HumanAction, rows), (now_as, -rows)] {
        let sql = "insert into tally (what, count) values (?1, ?2) on conflict (what) do update set count = count + ?2";
        connection.execute(sql, (what.as_str(), by))?;
    }
    Ok(())
}

/// How often this happened: in the ledger, and before it was pruned.
fn count(connection: &Connection, what: &str, rows: &str) -> Result<u64, Fault> {
    let sql = format!("select coalesce((select count from tally where what = ?1), 0) + ({rows})");
    let count: i64 = connection.query_row(&sql, [what], |row| row.get(0))?;
    Ok(count.unsigned_abs())
}

/// The rows of the ledger that were quarantined.
const BAD: &str = "select count(*) from leases where state = 'quarantined'";

fn figures(connection: &Connection, now: &Now) -> Result<Figures, Fault> {
    // The ledger may be long: it is gone through once.
    let mut statement =
        connection.prepare("select ended_as, count(*) from leases where ended_at is not null group by ended_as")?;
    let all =
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<BTreeMap<String, i64>, _>>()?;
    let ended = |how: &str| count(connection, how, &format!("select {}", all.get(how).unwrap_or(&0)));
    let waiting: i64 = connection.query_row(
        "select count(*) from tickets where boot = ?1 and refreshed_ms + silence_ms >= ?2",
        (&now.boot, now.ms),
        |row| row.get(0),
    )?;
    Ok(Figures {
        waiting: waiting.unsigned_abs(),
        waits: count(connection, "waits", "select 0")?,
        quarantines: count(connection, "quarantines", BAD)?,
        completed: ended("completed")?,
        failed: ended("failed")?,
        expired: ended("expired")?,
        stolen: ended("stolen")?,
        human_action: ended("human-action")?,
    })
}

/// What is about to be pruned (the table `old_leases`) stays counted; sessions and words of so long ago go.
pub(super) fn prune(connection: &Connection, what: &Prune, now: &Now) -> Result<(), Fault> {
    let before = now.wall.saturating_sub(ms(what.older_than));
    let add = "on conflict (what) do update set count = count + excluded.count";
    connection.execute_batch(&format!(
        "insert into tally (what, count) select ended_as, count(*) from leases \
         where id in (select id from old_leases) and ended_as is not null group by ended_as {add};
         insert into tally (what, count) select 'quarantines', count(*) from leases \
         where id in (select id from old_leases) and state = 'quarantined' having count(*) > 0 {add};"
    ))?;
    connection.execute("delete from sessions where coalesce(ended_at, seen_at) < ?1", [before])?;
    connection.execute("delete from words where at < ?1", [before])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A million ended leases made it 0.15 s, and with it every `locked status`.
    #[test]
    fn what_a_status_asks_is_told_without_a_walk_through_the_ledger() {
        let ledger = Connection::open_in_memory().expect("memory");
        crate::store::sqlite::schema::make(&ledger).expect("made");
        let left = crate::store::sqlite::views::duties_asked();
        for (asked, index) in [(SESSIONS, "lease_ended_session"), (left.as_str(), "lease_left")] {
            let mut plan = ledger.prepare(&format!("explain query plan {asked}")).expect("a plan");
            let steps = plan.query_map([], |row| row.get::<_, String>("detail")).expect("steps");
            let steps: Vec<String> = steps.collect::<rusqlite::Result<_>>().expect("steps");
            let walks = |step: &&String| step.starts_with("SCAN leases") && !step.contains("INDEX lease_live");
            assert!(steps.iter().any(|step| step.contains(index)), "{steps:?}");
            assert_eq!(steps.iter().find(walks), None, "{steps:?}");
        }
    }
}
