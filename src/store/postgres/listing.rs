//! The tables beside what this program's steps make of them: a list of lines on both sides, and what differs. A function is
//! as good as the index, the constraint and the rights that it relies on.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;

use tokio_postgres::Client;
use tokio_postgres::types::Type;

use super::column::column;
use super::fault::Fault;
use super::setup::Difference;

/// Asks for a line for each thing that matters.
const ASKS: &str = include_str!("schema/listing.sql");
/// What a server answers whose tables are as they should be (a test compares it with a server).
const KNOWN: &str = include_str!("schema/listing.txt");

/// What a server says of a schema, in byte order.
pub(super) async fn of_server(client: &Client, schema: &str) -> Result<BTreeSet<String>, Fault> {
    let rows = client.query_typed(ASKS, &[(&schema, Type::NAME)]).await?;
    rows.iter().map(|row| column(row, 0)).collect()
}

/// What differs.
pub(super) fn differences(there: &BTreeSet<String>) -> Vec<Difference> {
    let known: BTreeSet<&str> = KNOWN.lines().collect();
    let lacks = known.iter().filter(|line| !there.contains(**line)).map(|line| lacking(line, there));
    let more = there.iter().filter(|line| !known.contains(line.as_str())).filter_map(|line| beyond(line, &known));
    lacks.chain(more).collect()
}

/// Something is not there, or not as it should be.
fn lacking(line: &str, there: &BTreeSet<String>) -> Difference {
    let is_there = table_of(line).is_some_and(|table| there.contains(&table));
    match line.split(' ').next().unwrap_or_default() {
        // These can be made anew at any time.
        "right" | "view" => Difference::Lacks(line.to_owned()),
        "index" | "unique" | "trigger" if is_there => Difference::Lacks(line.to_owned()),
        _ => Difference::Altered(format!("without: {line}")),
    }
}

/// `table leases` for a column of it, and for an index, a trigger, a rule on it.
fn table_of(line: &str) -> Option<String> {
    let (kind, rest) = line.split_once(' ')?;
    let named = |by: &str| rest.split_once(by)?.1.split(' ').next();
    let table = match kind {
        "column" => rest.split('.').next(),
        "constraint" => named(" of "),
        "index" | "unique" | "trigger" | "rule" => named(" on "),
        _ => None,
    };
    Some(format!("table {}", table?))
}

/// Something is there that this program does not make. What is in nobody's way is nobody's business: an index for a report, a
/// column that may be empty.
fn beyond(line: &str, known: &BTreeSet<&str>) -> Option<Difference> {
    let same = |kind: &str| {
        let name = line.strip_prefix(kind)?.split(' ').next()?;
        Some(known.iter().any(|known| known.strip_prefix(kind).is_some_and(|it| it.split(' ').next() == Some(name))))
    };
    // A table of somebody else's, or of those who change over, is theirs with all that belongs to it.
    let of_others = table_of(line).is_some_and(|table| !known.contains(&*table));
    let harmless = of_others
        || match line.split(' ').next().unwrap_or_default() {
            // A store that has moved is told of by its own word.
            "trigger" if line == "trigger moved on leases" => true,
            "index" | "view" => true,
            "table" => same("table ") == Some(false),
            "column" => same("column ") == Some(false) && (!line.contains(" not null") || line.contains(" default ")),
            _ => false,
        };
    match line.strip_prefix("right ") {
        _ if harmless => None,
        Some(right) => Some(Difference::Granted(right.to_owned())),
        None => Some(Difference::Altered(format!("with: {line}"))),
    }
}

/// The names of indexes that must be made anew.
pub(super) fn indexes(differences: &[Difference]) -> Vec<&str> {
    let lacks = differences.iter().filter_map(|it| match it {
        Difference::Lacks(line) => Some(line.as_str()),
        _ => None,
    });
    lacks.filter_map(|line| line.split_once("index ")?.1.split(' ').next()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without(dropped: &str) -> BTreeSet<String> {
        KNOWN.lines().filter(|line| !line.contains(dropped)).map(str::to_owned).collect()
    }

    fn with(line: &str) -> BTreeSet<String> {
        KNOWN.lines().chain([line]).map(str::to_owned).collect()
    }

    #[test]
    fn what_should_be_there_is_missed_and_what_should_not_is_found() {
        assert_eq!(differences(&without("no such thing")), []);
        let index = "unique index lease_live on leases name, scope where ended_at IS NULL";
        let found = differences(&without("lease_live"));
        assert_eq!(found, [Difference::Lacks(index.to_owned())]);
        assert_eq!(indexes(&found), ["lease_live"]);
        let column = "column receipts.token bigint not null";
        assert_eq!(differences(&without(column)), [Difference::Altered(format!("without: {column}"))]);
        let table = "table words";
        assert!(differences(&without("words")).contains(&Difference::Altered(format!("without: {table}"))));
        for odd in
            ["trigger x on leases", "rule x on leases", "column leases.x text not null", "table leases of postgres"]
        {
            assert_eq!(differences(&with(odd)), [Difference::Altered(format!("with: {odd}"))]);
        }
        let right = "right update on leases for worker";
        assert_eq!(differences(&with(right)), [Difference::Granted("update on leases for worker".to_owned())]);
        for harmless in [
            "index x on leases host",
            "column leases.x text",
            "column leases.x text not null default ''",
            "table x",
            "view x",
            "column x.y text not null",
            "constraint y of x CHECK true",
            "trigger y on x",
        ] {
            assert_eq!(differences(&with(harmless)), [], "{harmless}");
        }
    }
}
