//! A column of an answer, as what it must be. Whoever stands at the other end may answer something else: that is no reason to
//! end, nor to ask again.
#![forbid(unsafe_code)]

use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

use super::fault::Fault;

/// The column at this place.
pub(super) fn column<'a, T: FromSql<'a>>(row: &'a Row, at: usize) -> Result<T, Fault> {
    row.try_get(at).map_err(|_| Fault::Odd("an answer of another form"))
}

/// The one text of an answer.
pub(super) fn text_of(rows: &[Row]) -> Result<String, Fault> {
    let text: Option<&str> = rows.first().map(|row| column(row, 0)).transpose()?;
    text.map(str::to_owned).ok_or(Fault::Odd("an answer without a row"))
}
