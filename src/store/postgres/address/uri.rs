//! `postgresql://user:password@host:port,host:port/database?key=value`.
//! Source: libpq `conninfo_uri_parse_options` and the PostgreSQL manual, "Connection URIs".
#![forbid(unsafe_code)]

use super::error::AddressError;
use super::parameters::Parameters;

/// What stands behind the scheme, if the text has one of the two that libpq knows (lower case only).
pub(super) fn after_scheme(text: &str) -> Option<&str> {
    text.strip_prefix("postgresql://").or_else(|| text.strip_prefix("postgres://"))
}

/// Reads what stands behind the scheme, exactly as libpq does.
pub(super) fn parse(text: &str) -> Result<Parameters, AddressError> {
    let mut found = Parameters::default();
    let rest = credentials(text, &mut found)?;
    // libpq ends the password at the first `@`. Another one is most often the end of a password with a raw `@` or `/`.
    if rest.contains('@') {
        found.doubt();
    }
    let rest = servers(rest, &mut found)?;
    let rest = match rest.strip_prefix('/') {
        Some(rest) => {
            let (name, rest) = rest.split_at(rest.find('?').unwrap_or(rest.len()));
            put(&mut found, "dbname", name)?;
            rest
        }
        None => rest,
    };
    match rest.strip_prefix('?') {
        Some(query) => parameters(query, &mut found)?,
        None => debug_assert!(rest.is_empty(), "servers end at `/`, `?` or the end"),
    }
    Ok(found)
}

/// `user:password@`, if there is an `@` before the first `/`.
fn credentials<'a>(text: &'a str, found: &mut Parameters) -> Result<&'a str, AddressError> {
    let end = text.find(['@', '/']).unwrap_or(text.len());
    let (before, after) = text.split_at(end);
    let Some(rest) = after.strip_prefix('@') else { return Ok(text) };
    let (user, password) = before.split_once(':').unwrap_or((before, ""));
    put(found, "user", user)?;
    put(found, "password", password)?;
    Ok(rest)
}

/// `host:port,[::1]:port`; the lists of both stay lists. What follows begins with `/` or `?`, or is empty.
fn servers<'a>(text: &'a str, found: &mut Parameters) -> Result<&'a str, AddressError> {
    let (mut hosts, mut ports) = (String::new(), String::new());
    let mut rest = text;
    loop {
        let host;
        (host, rest) = match rest.strip_prefix('[') {
            Some(inner) => bracketed(inner)?,
            None => rest.split_at(rest.find([':', '/', '?', ',']).unwrap_or(rest.len())),
        };
        hosts.push_str(host);
        if let Some(after) = rest.strip_prefix(':') {
            let port;
            (port, rest) = after.split_at(after.find(['/', '?', ',']).unwrap_or(after.len()));
            ports.push_str(port);
        }
        let Some(next) = rest.strip_prefix(',') else { break };
        hosts.push(',');
        ports.push(',');
        rest = next;
    }
    put(found, "host", &hosts)?;
    put(found, "port", &ports)?;
    Ok(rest)
}

/// An IPv6 address; `text` begins behind the bracket.
fn bracketed(text: &str) -> Result<(&str, &str), AddressError> {
    let wrong = |what| Err(AddressError::Form { what, after: None });
    let Some((address, rest)) = text.split_once(']') else { return wrong("a `[` of an IPv6 address is not closed") };
    if address.is_empty() {
        return wrong("an IPv6 address is empty");
    }
    match rest.is_empty() || rest.starts_with([':', '/', '?', ',']) {
        true => Ok((address, rest)),
        false => wrong("an IPv6 address is followed by something else than a port, `/`, `?` or `,`"),
    }
}

/// `key=value&key=value`.
fn parameters(query: &str, found: &mut Parameters) -> Result<(), AddressError> {
    let mut last = None;
    let mut rest = query;
    while !rest.is_empty() {
        let (part, next) = rest.split_once('&').unwrap_or((rest, ""));
        let wrong = |what| AddressError::Form { what, after: last };
        let (name, value) = part.split_once('=').ok_or(wrong("a parameter of the URI has no `=`"))?;
        if value.contains('=') {
            return Err(wrong("a parameter of the URI has a second `=`"));
        }
        let (name, value) = (decode(name, None)?, decode(value, last)?);
        // The spelling of JDBC.
        last = Some(match (name.as_str(), value.as_str()) {
            ("ssl", "true") => found.put_word("sslmode", "require".to_owned(), true)?,
            _ => found.put_word(&name, value, !found.doubtful())?,
        });
        rest = next;
    }
    Ok(())
}

/// An empty part counts as not given, so that its default holds.
fn put(found: &mut Parameters, key: &'static str, text: &str) -> Result<(), AddressError> {
    if !text.is_empty() {
        found.put(key, decode(text, Some(key))?);
    }
    Ok(())
}

/// Undoes percent-encoding; `+` is a plus.
fn decode(text: &str, key: Option<&'static str>) -> Result<String, AddressError> {
    let wrong = |what| AddressError::Form { what, after: key };
    let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let byte = match byte {
            b'%' => match (digit(rest.next()), digit(rest.next())) {
                (Some(0), Some(0)) => return Err(wrong("%00 stands for no character")),
                (Some(high), Some(low)) => u8::try_from(high * 16 + low).unwrap_or_default(),
                _ => return Err(wrong("a `%` is not followed by two hexadecimal digits")),
            },
            other => other,
        };
        bytes.push(byte);
    }
    String::from_utf8(bytes).map_err(|_| wrong("percent-encoded bytes are no UTF-8"))
}
