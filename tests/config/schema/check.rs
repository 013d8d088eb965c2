//! As much of JSON Schema (draft 7) as our schema uses; a keyword that is not here is a failure of the test.
#![forbid(unsafe_code)]

use regex::Regex;
use serde_json::Value;

/// Every place of `value` that does not fit, with the keyword that says so.
pub(super) fn faults(root: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    Check { root, found: &mut found }.all(root, value, "");
    found
}

struct Check<'a> {
    root: &'a Value,
    found: &'a mut Vec<String>,
}

impl Check<'_> {
    fn all(&mut self, schema: &Value, value: &Value, at: &str) {
        for (keyword, wanted) in schema.as_object().expect("a schema") {
            if !self.one(keyword, wanted, schema, value, at) {
                self.found.push(format!("{at}: {keyword}"));
            }
        }
    }

    fn fits(&self, schema: &Value, value: &Value) -> bool {
        let mut found = Vec::new();
        Check { root: self.root, found: &mut found }.all(schema, value, "");
        found.is_empty()
    }

    fn one(&mut self, keyword: &str, wanted: &Value, schema: &Value, value: &Value, at: &str) -> bool {
        let schemas = || wanted.as_array().expect("schemas").iter();
        let number = || wanted.as_u64().expect("a number");
        let letters = || value.as_str().map(|text| text.chars().count() as u64);
        match keyword {
            "$schema" | "title" | "description" | "default" | "examples" | "definitions" => {}
            "$ref" => {
                let name = wanted.as_str().and_then(|to| to.strip_prefix("#/definitions/")).expect("a definition");
                let definition = self.root["definitions"].get(name).unwrap_or_else(|| panic!("no definition {name}"));
                self.all(definition, value, at);
            }
            "allOf" => schemas().for_each(|schema| self.all(schema, value, at)),
            "anyOf" => return schemas().any(|schema| self.fits(schema, value)),
            "oneOf" => return schemas().filter(|schema| self.fits(schema, value)).count() == 1,
            "enum" => return wanted.as_array().expect("values").contains(value),
            "type" => return is(wanted.as_str().expect("a type"), value),
            "pattern" => {
                let pattern = Regex::new(wanted.as_str().expect("a pattern")).expect("a pattern");
                return value.as_str().is_none_or(|text| pattern.is_match(text));
            }
            "minLength" => return letters().is_none_or(|letters| letters >= number()),
            "maxLength" => return letters().is_none_or(|letters| letters <= number()),
            "minimum" => return value.as_i64().is_none_or(|value| value >= 0 && value.unsigned_abs() >= number()),
            "minItems" => return value.as_array().is_none_or(|items| items.len() as u64 >= number()),
            "uniqueItems" => {
                return value
                    .as_array()
                    .is_none_or(|items| (1..items.len()).all(|at| !items[..at].contains(&items[at])));
            }
            "items" => {
                for (number, item) in value.as_array().into_iter().flatten().enumerate() {
                    self.all(wanted, item, &format!("{at}[{number}]"));
                }
            }
            "required" => return schemas().all(|key| value.get(key.as_str().expect("a key")).is_some()),
            "dependencies" => {
                let given = wanted.as_object().expect("keys").iter().filter(|(key, _)| value.get(key).is_some());
                let mut needed = given.flat_map(|(_, needs)| needs.as_array().expect("keys"));
                return needed.all(|key| value.get(key.as_str().expect("a key")).is_some());
            }
            "properties" | "additionalProperties" | "propertyNames" => self.keys(keyword, wanted, schema, value, at),
            other => panic!("the keyword {other} is not known here"),
        }
        true
    }

    fn keys(&mut self, keyword: &str, wanted: &Value, schema: &Value, value: &Value, at: &str) {
        for (key, value) in value.as_object().into_iter().flatten() {
            let at = format!("{at}.{key}");
            match keyword {
                "properties" => wanted.get(key).into_iter().for_each(|schema| self.all(schema, value, &at)),
                "propertyNames" => self.all(wanted, &Value::from(key.as_str()), &at),
                _ if schema["properties"].get(key).is_some() => {}
                _ if wanted == false => self.found.push(format!("{at}: {keyword}")),
                _ => self.all(wanted, value, &at),
            }
        }
    }
}

fn is(kind: &str, value: &Value) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        other => panic!("the type {other} is not known here"),
    }
}
