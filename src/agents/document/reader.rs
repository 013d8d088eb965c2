//! Reads JSON with its comments.
#![forbid(unsafe_code)]

use super::{Flaw, Member, Node, Value};

/// Settings of agents are not nested deeper.
const DEEPEST: usize = 128;

/// What is read, and how far.
pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
}

impl Reader<'_> {
    pub(super) fn flaw(&self, what: &'static str) -> Flaw {
        Flaw { at: self.at, what }
    }

    fn rest(&self) -> &[u8] {
        &self.text.as_bytes()[self.at..]
    }

    fn next(&self) -> Option<u8> {
        self.rest().first().copied()
    }

    /// White space and comments.
    pub(super) fn pass(&mut self) -> Result<(), Flaw> {
        loop {
            match self.rest() {
                [b' ' | b'\t' | b'\r' | b'\n', ..] => self.at += 1,
                [b'/', b'/', rest @ ..] => {
                    self.at += 2 + rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
                }
                [b'/', b'*', rest @ ..] => {
                    let end = rest.windows(2).position(|two| two == b"*/");
                    self.at += 4 + end.ok_or_else(|| self.flaw("a comment has no end"))?;
                }
                _ => return Ok(()),
            }
        }
    }

    pub(super) fn value(&mut self, depth: usize) -> Result<Node, Flaw> {
        self.pass()?;
        let start = self.at;
        let value = match self.next() {
            None => return Err(self.flaw("it ends too early")),
            _ if depth > DEEPEST => return Err(self.flaw("it is nested too deep")),
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.list(depth)?,
            Some(b'"') => Value::Text(self.string()?),
            Some(_) => self.other()?,
        };
        Ok(Node { span: start..self.at, value })
    }

    fn object(&mut self, depth: usize) -> Result<Value, Flaw> {
        let mut members = Vec::new();
        while self.another(b'}', members.is_empty())? {
            let start = self.at;
            if self.next() != Some(b'"') {
                return Err(self.flaw("a key in quotes is missing"));
            }
            let key = self.string()?;
            self.pass()?;
            if self.next() != Some(b':') {
                return Err(self.flaw("a colon is missing"));
            }
            self.at += 1;
            let node = self.value(depth + 1)?;
            members.push(Member { key, start, node });
        }
        Ok(Value::Object(members))
    }

    fn list(&mut self, depth: usize) -> Result<Value, Flaw> {
        let mut items = Vec::new();
        while self.another(b']', items.is_empty())? {
            items.push(self.value(depth + 1)?);
        }
        Ok(Value::List(items))
    }

    /// Steps over the opening bracket or a comma; false behind the closing one.
    fn another(&mut self, close: u8, first: bool) -> Result<bool, Flaw> {
        if first {
            self.at += 1;
        }
        self.pass()?;
        match self.next() {
            Some(byte) if byte == close => {
                self.at += 1;
                Ok(false)
            }
            None => Err(self.flaw("it ends too early")),
            Some(_) if first => Ok(true),
            Some(b',') => {
                self.at += 1;
                self.pass()?;
                match self.next() {
                    Some(byte) if byte == close => Err(self.flaw("a comma stands before the closing bracket")),
                    _ => Ok(true),
                }
            }
            Some(_) => Err(self.flaw("a comma or a closing bracket is missing")),
        }
    }

    fn string(&mut self) -> Result<String, Flaw> {
        let start = self.at;
        let mut escaped = false;
        let end = self.rest().iter().skip(1).position(|&byte| {
            let ends = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            ends
        });
        self.at += 2 + end.ok_or_else(|| self.flaw("a text has no end"))?;
        let read = serde_json::from_str(&self.text[start..self.at]);
        read.map_err(|_| Flaw { at: start, what: "a text in quotes is no JSON" })
    }

    fn other(&mut self) -> Result<Value, Flaw> {
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-._".contains(byte);
        let length = self.rest().iter().take_while(|&byte| is_part(byte)).count();
        let word = &self.text[self.at..self.at + length];
        if serde_json::from_str::<serde::de::IgnoredAny>(word).is_err() {
            return Err(self.flaw("this is no value of JSON"));
        }
        self.at += length;
        Ok(Value::Other)
    }
}
