//! Tables for people: columns as wide as what stands in them.

use std::fmt;

use super::safe;

/// Rows of cells under a head.
#[derive(Debug)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(head: &[&str]) -> Self {
        Self { rows: vec![head.iter().map(|cell| (*cell).to_owned()).collect()] }
    }

    pub(crate) fn row(&mut self, cells: Vec<String>) {
        // Most of what stands in tables was chosen by others.
        self.rows.push(cells.iter().map(|cell| safe(cell).into_owned()).collect());
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
    }
}

/// Without white space at the ends of lines, and without a last end of line.
impl fmt::Display for Table {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, row) in self.rows.iter().enumerate() {
            if number > 0 {
                writeln!(out)?;
            }
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                line.push_str(cell);
                let fill = self.width(column) + 2 - cell.chars().count();
                line.extend(std::iter::repeat_n(' ', fill));
            }
            out.write_str(line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_what_stands_in_them() {
        let mut table = Table::new(&["NAME", "X"]);
        table.row(vec!["größer".to_owned(), "1".to_owned()]);
        assert_eq!(table.to_string(), "NAME    X\ngrößer  1");
    }
}
