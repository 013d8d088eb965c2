//! Columns that line up.
#![forbid(unsafe_code)]

/// Rows of cells as text. A row with a single cell is a note and does not widen its column.
pub(super) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width = |column: usize| {
        let cells = rows.iter().filter(|row| row.len() > 1).filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let lines = rows.iter().map(|row| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_notes_do_not_widen_them() {
        let rows = [
            vec!["A".to_owned(), "B".to_owned()],
            vec!["long".to_owned(), "x".to_owned()],
            vec!["  a long note".to_owned()],
        ];
        assert_eq!(table(&rows), "A     B\nlong  x\n  a long note");
    }
}
