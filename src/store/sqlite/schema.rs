//! The schema, its versions, and how a file gets from one to the next.
#![forbid(unsafe_code)]

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::fault::Fault;

/// One step per version. A step that was published is never changed; a new one is added below it.
const STEPS: [&str; 8] = [
    include_str!("schema/0001_ledger.sql"),
    include_str!("schema/0002_may_run_on.sql"),
    include_str!("schema/0003_ways_to_end.sql"),
    include_str!("schema/0004_receipts_by_content.sql"),
    include_str!("schema/0005_board.sql"),
    include_str!("schema/0006_since_when.sql"),
    include_str!("schema/0007_issue.sql"),
    include_str!("schema/0008_long_ledger.sql"),
];

/// The version that this program knows.
const KNOWN: i64 = STEPS.len() as i64;

/// Writes the schema into a fresh file, and the identity of the store.
pub(super) fn make(connection: &Connection) -> Result<(), Fault> {
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    for step in &STEPS {
        transaction.execute_batch(step)?;
    }
    let id = uuid::Uuid::new_v4().to_string();
    transaction.execute("insert into meta (key, value) values ('store_id', ?1)", [id])?;
    transaction.pragma_update(None, "user_version", KNOWN)?;
    transaction.commit()?;
    Ok(())
}

/// Brings the file to the version that this program knows: nothing to do, every missing step in one transaction, or a
/// refusal of what is newer. Many processes may do it at once.
pub(super) fn migrate(connection: &Connection) -> Result<(), Fault> {
    match version(connection)? {
        KNOWN => return Ok(()),
        found if found > KNOWN => return Err(Fault::Newer { found, known: KNOWN }),
        _ => {}
    }
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    // Order: asked again under the write lock; another process may have been first.
    let found = version(&transaction)?;
    if found > KNOWN {
        return Err(Fault::Newer { found, known: KNOWN });
    }
    // A file that is there was made with its schema: one without has lost it, and the leases with it.
    let done = usize::try_from(found).ok().filter(|done| *done > 0).ok_or(Fault::Emptied)?;
    for step in &STEPS[done..] {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "user_version", KNOWN)?;
    transaction.commit()?;
    Ok(())
}

/// What of the tables, indexes and triggers is not as this program makes it, or not there. The gate of a store that has moved is
/// told of by its own word.
pub(super) fn differences(connection: &Connection) -> Result<Vec<String>, Fault> {
    let fresh = Connection::open_in_memory()?;
    make(&fresh)?;
    let (known, there) = (listed(&fresh)?, listed(connection)?);
    let word = |how: &str, (name, _): &(String, String)| format!("{how} {name}");
    let lacks = known.iter().filter(|it| !there.contains(it)).map(|it| word("without", it));
    let is_new = |it: &&(String, String)| known.iter().all(|(name, _)| *name != it.0);
    let more = there.iter().filter(|it| it.0.starts_with("trigger ") && it.0 != "trigger moved" && is_new(it));
    Ok(lacks.chain(more.map(|it| word("with", it))).collect())
}

/// What there is by kind and name, and the text that made it.
fn listed(connection: &Connection) -> Result<Vec<(String, String)>, Fault> {
    let sql =
        "select type || ' ' || name, coalesce(sql, '') from sqlite_schema where name not like 'sqlite_%' order by 1";
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The file, which nobody in this process has open, is of this program's version: so says its header (offset 60, see
/// "The Database Header" in SQLite's description of its file format).
pub(super) fn is_current(file: &std::path::Path) -> bool {
    let mut header = [0; 64];
    let read = std::fs::File::open(file).and_then(|mut file| std::io::Read::read_exact(&mut file, &mut header));
    read.is_ok() && header[60..64] == u32::try_from(KNOWN).unwrap_or(0).to_be_bytes()
}

/// Refuses what is newer than this program.
pub(super) fn check(connection: &Connection) -> Result<(), Fault> {
    let found = version(connection)?;
    if found > KNOWN { Err(Fault::Newer { found, known: KNOWN }) } else { Ok(()) }
}

fn version(connection: &Connection) -> Result<i64, Fault> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fresh_file_gets_the_schema_and_an_identity_and_an_emptied_one_does_not() {
        let connection = Connection::open_in_memory().expect("memory");
        assert!(matches!(migrate(&connection), Err(Fault::Emptied)));
        make(&connection).expect("first");
        let id = |connection: &Connection| -> String {
            connection.query_row("select value from meta where key = 'store_id'", [], |row| row.get(0)).expect("id")
        };
        let first = id(&connection);
        assert!(uuid::Uuid::parse_str(&first).is_ok());
        migrate(&connection).expect("again");
        assert_eq!(id(&connection), first);
        assert_eq!(version(&connection).expect("version"), KNOWN);
    }

    #[test]
    fn a_file_of_every_earlier_version_is_brought_to_this_one() {
        let columns = |connection: &Connection| -> Vec<String> {
            let sql = "select name || coalesce(sql, '') from sqlite_schema order by name";
            let mut statement = connection.prepare(sql).expect("schema");
            statement.query_map([], |row| row.get(0)).expect("rows").map(|row| row.expect("row")).collect()
        };
        let fresh = Connection::open_in_memory().expect("memory");
        make(&fresh).expect("made");
        for version in 1..STEPS.len() {
            let older = Connection::open_in_memory().expect("memory");
            STEPS[..version].iter().for_each(|step| older.execute_batch(step).expect("step"));
            older.pragma_update(None, "user_version", i64::try_from(version).expect("small")).expect("set");
            migrate(&older).expect("migrated");
            assert_eq!(columns(&older), columns(&fresh), "from version {version}");
        }
    }

    #[test]
    fn what_was_taken_from_the_tables_is_missed_and_a_stranger_s_trigger_is_found() {
        let connection = Connection::open_in_memory().expect("memory");
        make(&connection).expect("made");
        assert_eq!(differences(&connection).expect("compared"), Vec::<String>::new());
        let index = "select name from sqlite_schema where type = 'index' and sql like '%unique%' limit 1";
        let index: String = connection.query_row(index, [], |row| row.get(0)).expect("an index");
        let odd = "create trigger odd after insert on leases begin select 1; end; create table reports (x); \
                   create trigger moved before insert on leases begin select 1; end";
        connection.execute_batch(&format!("drop index {index}; {odd}")).expect("changed");
        let found = differences(&connection).expect("compared");
        assert_eq!(found, [format!("without index {index}"), "with trigger odd".to_owned()]);
    }

    #[test]
    fn a_newer_file_is_refused_and_left_alone() {
        let connection = Connection::open_in_memory().expect("memory");
        connection.pragma_update(None, "user_version", KNOWN + 1).expect("set");
        assert!(
            matches!(migrate(&connection), Err(Fault::Newer { found, known }) if (found, known) == (KNOWN + 1, KNOWN))
        );
        let tables: i64 =
            connection.query_row("select count(*) from sqlite_schema", [], |row| row.get(0)).expect("count");
        assert_eq!(tables, 0);
    }
}
