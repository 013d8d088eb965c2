//! Names with gaps: `container:{project}`, `server:{host}`, `workflow:{1|slug}`.
#![forbid(unsafe_code)]

use serde::Deserialize;

/// A text with gaps that a command line fills.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Template(Vec<Part>);

/// A part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Text as it stands.
    Text(String),
    /// A gap, and what is done to what fills it.
    Gap(Field, Vec<Filter>),
}

/// What fills a gap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Field {
    /// `{1}`: an operand behind the sub-command, counted from one.
    Operand(usize),
    /// `{2..}`: each operand from this one on, one name each; `{*}` is `{1..}`.
    Operands(usize),
    /// `{1of2}`: an operand where there are exactly so many: where a program takes no more, the others are a slip of the
    /// hand, and any of them may be a piece of a value.
    OperandOf(usize, usize),
    /// `{*=}`: what stands before the `=` of each operand that has one, up to the first that has none: from there on words may
    /// be values.
    Assigned,
    /// `{last}`: the last operand.
    Last,
    /// `{--name}`: the value of an option; where it is given several times, one name each.
    Option(String),
    /// `{env:NAME}`: a variable.
    Variable(String),
    /// `{of=}`: the rest of an operand that begins so.
    Prefixed(String),
    /// `{host}`: the host on which it runs.
    Host,
    /// `{project}`: the project of Compose.
    Project,
    /// Any other word: what a regular expression of the rule caught under this name.
    Caught(String),
}

impl std::fmt::Display for Field {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Operand(number) => write!(f, "{{{number}}}"),
            Self::Operands(from) => write!(f, "{{{from}..}}"),
            Self::OperandOf(number, all) => write!(f, "{{{number}of{all}}}"),
            Self::Assigned => f.write_str("{*=}"),
            Self::Last => f.write_str("{last}"),
            Self::Option(name) | Self::Prefixed(name) | Self::Caught(name) => write!(f, "{{{name}}}"),
            Self::Variable(name) => write!(f, "{{env:{name}}}"),
            Self::Host => f.write_str("{host}"),
            Self::Project => f.write_str("{project}"),
        }
    }
}

/// What is done to what fills a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filter {
    /// The last part of a path.
    File,
    /// The name of a workflow however it is written: the last part of a path, without `.yml`, in lower case, everything
    /// but letters and digits a dash.
    Slug,
    /// The host of a destination: without user, port, brackets and path.
    Host,
    /// The Compose project of this container, if the engine says it has one; else the container.
    Stack,
    /// What stands before the first `=`.
    Key,
    /// A path without slashes at its ends, and with one where several stand.
    Path,
    /// The path of a secret of Vault's second key-value engine, which its API has with `data` behind the mount
    /// (developer.hashicorp.com/vault/api-docs/secret/kv/kv-v2).
    Stored,
    /// The file that an address ends with.
    Url,
    /// The name in an ARN of AWS; what is none stays as it is
    /// (docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns).
    Arn,
}

const FILTERS: [(&str, Filter); 9] = [
    ("file", Filter::File),
    ("slug", Filter::Slug),
    ("host", Filter::Host),
    ("stack", Filter::Stack),
    ("key", Filter::Key),
    ("path", Filter::Path),
    ("stored", Filter::Stored),
    ("url", Filter::Url),
    ("arn", Filter::Arn),
];

impl Template {
    /// Its parts.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.0
    }

    /// Whether it asks for this.
    #[must_use]
    pub fn has(&self, field: &Field) -> bool {
        self.0.iter().any(|part| matches!(part, Part::Gap(own, _) if own == field))
    }
}

impl TryFrom<String> for Template {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = text.as_str();
        while let Some((before, after)) = rest.split_once('{') {
            let (gap, behind) = after.split_once('}').ok_or("a { without its }")?;
            if !before.is_empty() {
                parts.push(Part::Text(before.to_owned()));
            }
            parts.push(read(gap)?);
            rest = behind;
        }
        if !rest.is_empty() {
            parts.push(Part::Text(rest.to_owned()));
        }
        Ok(Self(parts))
    }
}

fn read(gap: &str) -> Result<Part, String> {
    let mut words = gap.split('|');
    let name = words.next().unwrap_or_default();
    let field = if let Some(from) = name.strip_suffix("..") {
        Field::Operands(number(from)?)
    } else if name.starts_with(|first: char| first.is_ascii_digit()) {
        match name.split_once("of") {
            Some((at, all)) => Field::OperandOf(number(at)?, number(all)?),
            None => Field::Operand(number(name)?),
        }
    } else if name == "*=" {
        Field::Assigned
    } else if let Some(variable) = name.strip_prefix("env:") {
        Field::Variable(variable.to_owned())
    } else if name.starts_with('-') {
        Field::Option(name.to_owned())
    } else if name.ends_with('=') {
        Field::Prefixed(name.to_owned())
    } else {
        match name {
            "*" => Field::Operands(1),
            "last" => Field::Last,
            "host" => Field::Host,
            "project" => Field::Project,
            "" => return Err("an empty gap {}".to_owned()),
            caught => Field::Caught(caught.to_owned()),
        }
    };
    let filters = words.map(|word| {
        let known = FILTERS.iter().find(|(name, _)| *name == word).map(|(_, filter)| *filter);
        known.ok_or_else(|| {
            "a gap with an unknown filter, expected file, slug, host, stack, key, path, stored, url or arn".to_owned()
        })
    });
    Ok(Part::Gap(field, filters.collect::<Result<_, _>>()?))
}

fn number(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|&number| number > 0)
        .ok_or_else(|| "a gap for no operand, they are counted from 1".to_owned())
}

impl Filter {
    /// Does it. `None`: nothing is left that could be a name.
    #[must_use]
    pub fn on(self, text: &[u8]) -> Option<Vec<u8>> {
        let done = match self {
            Self::File => last_part(text).to_vec(),
            Self::Slug => slug(last_part(text)),
            Self::Host => super::super::host::of_destination(text)?,
            Self::Stack => text.to_vec(),
            Self::Key => text.split(|&byte| byte == b'=').next().unwrap_or_default().to_vec(),
            Self::Path => parts(text).collect::<Vec<_>>().join(&b'/'),
            Self::Stored => stored(text),
            Self::Url => of_address(text).to_vec(),
            Self::Arn => of_arn(text).to_vec(),
        };
        Some(done).filter(|done| !done.is_empty())
    }
}

fn last_part(text: &[u8]) -> &[u8] {
    text.rsplit(|&byte| byte == b'/').find(|part| !part.is_empty()).unwrap_or_default()
}

fn parts(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|&byte| byte == b'/').filter(|part| !part.is_empty())
}

/// Without the word by which the API says what is done to the secret.
fn stored(path: &[u8]) -> Vec<u8> {
    let mut all: Vec<&[u8]> = parts(path).collect();
    // A user's password is written with the rest of the user, or by itself (api-docs/auth/userpass).
    if let [b"auth", .., b"users", _, b"password"] = all.as_slice() {
        all.pop();
    }
    let said: [&[u8]; 5] = [b"data", b"delete", b"undelete", b"destroy", b"metadata"];
    // In front of it stands the mount, behind it the secret.
    let at = (1..all.len().saturating_sub(1)).find(|&at| said.contains(&all[at]));
    if let Some(at) = at {
        all.remove(at);
    }
    all.join(&b'/')
}

/// The last part of an address, without what is asked of it.
fn of_address(address: &[u8]) -> &[u8] {
    let path = address.split(|byte| b"?#".contains(byte)).next().unwrap_or_default();
    let begin = path.windows(3).position(|three| three == b"://").map_or(0, |at| at + 3);
    // An address without a path ends with no file.
    let slash = path[begin..].iter().rposition(|&byte| byte == b'/');
    slash.map_or(&[], |slash| &path[begin + slash + 1..])
}

/// The name in `arn:PARTITION:SERVICE:REGION:ACCOUNT:secret:NAME-XXXXXX` or `…:parameter/NAME`. AWS puts a dash and six letters
/// and digits behind the name of a secret in its whole ARN, and advises against names that end so
/// (docs.aws.amazon.com/secretsmanager/latest/apireference, `SecretId`).
fn of_arn(text: &[u8]) -> &[u8] {
    let parts: Vec<&[u8]> = text.splitn(6, |&byte| byte == b':').collect();
    let [b"arn", _, _, _, _, resource] = parts[..] else { return text };
    if let Some(parameter) = resource.strip_prefix(b"parameter/") {
        return parameter;
    }
    let Some(name) = resource.strip_prefix(b"secret:") else { return resource };
    match name.len().checked_sub(7).map(|at| name.split_at(at)) {
        Some((short, [b'-', added @ ..])) if added.iter().all(u8::is_ascii_alphanumeric) => short,
        _ => name,
    }
}

fn slug(name: &[u8]) -> Vec<u8> {
    let lower = name.to_ascii_lowercase();
    let stem = lower.strip_suffix(b".yml").or(lower.strip_suffix(b".yaml")).unwrap_or(&lower);
    let mut slug = Vec::with_capacity(stem.len());
    for &byte in stem {
        // Bytes of other scripts stay: a name without any Latin letter is a name.
        if byte.is_ascii_alphanumeric() || !byte.is_ascii() {
            slug.push(byte);
        } else if slug.last().is_some_and(|&last| last != b'-') {
            slug.push(b'-');
        }
    }
    if slug.last() == Some(&b'-') {
        slug.pop();
    }
    slug
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_read() {
        let read = |text: &str| Template::try_from(text.to_owned()).map(|template| template.0);
        let text = |text: &str| Part::Text(text.to_owned());
        assert_eq!(read("a:b"), Ok(vec![text("a:b")]));
        assert_eq!(read("c:{project}"), Ok(vec![text("c:"), Part::Gap(Field::Project, vec![])]));
        assert_eq!(read("{2..|file}x"), Ok(vec![Part::Gap(Field::Operands(2), vec![Filter::File]), text("x")]));
        assert_eq!(
            read("{-p}{env:A}"),
            Ok(vec![Part::Gap(Field::Option("-p".into()), vec![]), Part::Gap(Field::Variable("A".into()), vec![]),])
        );
        assert_eq!(read("{1of2}"), Ok(vec![Part::Gap(Field::OperandOf(1, 2), vec![])]));
        assert_eq!(read("{*=}"), Ok(vec![Part::Gap(Field::Assigned, vec![])]));
        for wrong in ["{", "{}", "{0}", "{x..}", "{1of}", "{1of0}", "{1|nothing}"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn paths_and_addresses_come_to_names() {
        let table = [
            (Filter::Path, "/secret//app/", Some("secret/app")),
            (Filter::Path, "//", None),
            (Filter::Stored, "secret/data/app", Some("secret/app")),
            (Filter::Stored, "/team/kv/data/a/data/", Some("team/kv/a/data")),
            (Filter::Stored, "secret/app", Some("secret/app")),
            (Filter::Stored, "secret/data", Some("secret/data")),
            (Filter::Stored, "data/app", Some("data/app")),
            (Filter::Url, "https://h/a/.env?token=x", Some(".env")),
            (Filter::Url, "h/x.yaml#y", Some("x.yaml")),
            (Filter::Url, "https://h", None),
            (Filter::Url, "https://h/a/", None),
            (Filter::Arn, "arn:aws:secretsmanager:eu-west-1:1:secret:prod/db-Ab3dE6", Some("prod/db")),
            (Filter::Arn, "arn:aws-cn:secretsmanager:cn-north-1:1:secret:prod/db", Some("prod/db")),
            (Filter::Arn, "arn:aws:ssm:eu-west-1:1:parameter/prod/db", Some("prod/db")),
            (Filter::Arn, "arn:aws:iam::1:user/ada", Some("user/ada")),
            (Filter::Arn, "prod/db-Ab3dE6", Some("prod/db-Ab3dE6")),
            (Filter::Arn, "arn:aws", Some("arn:aws")),
        ];
        for (filter, text, name) in table {
            assert_eq!(filter.on(text.as_bytes()).as_deref(), name.map(str::as_bytes), "{filter:?} {text}");
        }
    }

    #[test]
    fn a_workflow_has_one_slug_however_it_is_named() {
        for name in [
            "secrets-sync.yml",
            ".github/workflows/secrets-sync.yaml",
            "Secrets Sync",
            "secrets-sync",
            "Secrets  Sync!",
        ] {
            assert_eq!(Filter::Slug.on(name.as_bytes()).as_deref(), Some(&b"secrets-sync"[..]), "{name}");
        }
        assert_eq!(Filter::Slug.on(b"/"), None);
    }
}
