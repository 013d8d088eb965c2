//! Bytes that nobody wrote, read as choices: the same bytes are the same choices, and where they end every choice is the first.

/// What is left of them.
pub(crate) struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    /// All of them are left.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    /// A number below `limit`, which is at most 256.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::from(self.byte()) % limit
    }

    /// Yes in one of so many cases.
    pub(crate) fn one_in(&mut self, cases: usize) -> bool {
        self.below(cases) == cases - 1
    }

    /// One of these.
    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// A text of at most so many of these letters.
    pub(crate) fn text(&mut self, most: usize, letters: &str) -> String {
        let letters: Vec<char> = letters.chars().collect();
        (0..self.below(most + 1)).map(|_| self.pick(&letters)).collect()
    }

    /// What nobody has chosen from yet.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.0
    }
}
