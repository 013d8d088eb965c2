//! The two stores as witnesses: they note down themselves, in their own order, who asked, left and was granted.
#![forbid(unsafe_code)]

use rusqlite::Connection;
use tokio_postgres::Config;

use super::evidence::{Event, Left, What};
use crate::world::cluster::Desk;

/// Both write alike; the names of sessions are their first eight digits.
const EMBEDDED: &str = "
create table campaign (seq integer primary key autoincrement, what text, who text, name text, token integer);
create trigger campaign_asked after insert on ticket_resources begin
  insert into campaign (what, who, name)
    select 'asked', substr(k.holder, 1, 8), new.name from tickets k where abs(k.id) = abs(new.ticket);
end;
create trigger campaign_left before delete on ticket_resources begin
  insert into campaign (what, who, name)
    select 'left', substr(k.holder, 1, 8), old.name from tickets k where abs(k.id) = abs(old.ticket);
end;
create trigger campaign_granted after insert on leases begin
  insert into campaign (what, who, name, token) values ('granted', substr(new.session, 1, 8), new.name, new.token);
end;
";

/// A bug: the place in the queue is counted down.
pub(crate) const LAST_IN_FIRST_OUT: &str = "
create trigger down after insert on tickets when new.id > 0 begin
  update tickets set id = -new.id where id = new.id;
end;
create trigger down_too after insert on ticket_resources when new.ticket > 0 begin
  update ticket_resources set ticket = -new.ticket where ticket = new.ticket;
end;
";

const SERVER: &str = "
create schema campaign;
create table campaign.campaign (
  seq bigint generated always as identity, what text, who text, name text, token bigint);
create function campaign.asked() returns trigger language plpgsql security definer as $body$ begin
  insert into campaign.campaign (what, who, name)
    select 'asked', left(k.session::text, 8), new.name from locked.tickets k where k.id = new.ticket;
  return new;
end $body$;
create function campaign.left_it() returns trigger language plpgsql security definer as $body$ begin
  insert into campaign.campaign (what, who, name)
    select 'left', left(old.session::text, 8), r.name from locked.ticket_resources r where r.ticket = old.id;
  return old;
end $body$;
create function campaign.granted() returns trigger language plpgsql security definer as $body$ begin
  insert into campaign.campaign (what, who, name, token) values ('granted', left(new.session::text, 8), new.name, new.token);
  return new;
end $body$;
create trigger asked after insert on locked.ticket_resources for each row execute function campaign.asked();
create trigger left_it before delete on locked.tickets for each row execute function campaign.left_it();
create trigger granted after insert on locked.leases for each row execute function campaign.granted();
";

const EVENTS: &str = "select what, who, name, coalesce(cast(token as text), '-') from CAMPAIGN order by seq";
const LEFT: &str = "select substr(cast(session as text), 1, 8), name, state, \
     state || ', ' || operation || ', explicit ' || explicit || ', remote ' || remote || ', revoked ' || revoked || ', settled ' || settled \
     || ', ' || coalesce(reason, 'no reason') || ', debt ' || cast(debt as text) from LEASES where ended_at is null";

/// A store to look into.
pub(crate) enum Ledger {
    Embedded(std::path::PathBuf),
    /// The database's address, for its superuser.
    Server(Box<Config>),
}

impl Ledger {
    /// From now on the store notes.
    pub(crate) fn begins_to_note(&self) {
        match self {
            Self::Embedded(file) => Connection::open(file).expect("open").execute_batch(EMBEDDED).expect("triggers"),
            Self::Server(config) => drop(Desk::at(config).expect("the server").sql(SERVER).expect("triggers")),
        }
    }

    /// The embedded store gets a bug.
    pub(crate) fn is_planted_with(&self, bug: &str) {
        let Self::Embedded(file) = self else { unreachable!("a bug of the embedded store") };
        Connection::open(file).expect("open").execute_batch(bug).expect("planted");
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        let event = |row: Vec<String>| {
            let [what, who, resource, token] = row.try_into().expect("four columns");
            let what = match what.as_str() {
                "asked" => What::Asked,
                "left" => What::Left,
                _ => What::Granted,
            };
            Event { what, who, resource, token: token.parse().ok() }
        };
        self.rows(EVENTS).into_iter().map(event).collect()
    }

    /// The leases that live.
    pub(crate) fn left(&self) -> Vec<Left> {
        let left = |row: Vec<String>| {
            let [who, resource, kind, state] = row.try_into().expect("four columns");
            Left { who, resource, is_quarantined: kind == "quarantined", state }
        };
        self.rows(LEFT).into_iter().map(left).collect()
    }

    fn rows(&self, query: &str) -> Vec<Vec<String>> {
        match self {
            Self::Embedded(file) => {
                let query = query.replace("CAMPAIGN", "campaign").replace("LEASES", "leases");
                let database = Connection::open(file).expect("open");
                database.busy_timeout(crate::world::ends::LIMIT).expect("timeout");
                let mut statement = database.prepare(&query).expect("query");
                let columns = statement.column_count();
                let row = |row: &rusqlite::Row<'_>| (0..columns).map(|at| row.get(at)).collect();
                statement.query_map([], row).expect("rows").collect::<rusqlite::Result<_>>().expect("rows")
            }
            Self::Server(config) => {
                let query = query.replace("CAMPAIGN", "campaign.campaign").replace("LEASES", "locked.leases");
                Desk::at(config).expect("the server").sql(&query).expect("rows")
            }
        }
    }
}
