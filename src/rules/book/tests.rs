use super::*;

fn is_elsewhere(name: &str) -> bool {
    built_in::DIVISIONS.iter().any(|division| division.pack.is_none() && division.programs.contains(&name))
}

#[test]
fn every_division_can_be_read_and_is_about_its_programs_alone() {
    let mut seen: Vec<&str> = Vec::new();
    for division in &built_in::DIVISIONS {
        let tables = Tables::read(division.text).unwrap_or_else(|error| panic!("{:?}: {error}", division.programs));
        let rules = tables.rule.iter().filter_map(|rule| rule.program.as_ref());
        let names = tables.program.iter().map(|program| &program.name).chain(rules);
        let names = names.chain(tables.launcher.iter().map(|launcher| &launcher.program));
        let names = names.chain(tables.writer.iter().map(|writer| &writer.program));
        let names = names.chain(tables.sql.iter().map(|teller| &teller.program));
        // A pack has rules for any program: it is looked at as a whole.
        let others = |name: &&str| *name == "sops" || (division.pack.is_some() && is_elsewhere(name));
        for name in names.flat_map(Several::iter).filter(|name| !others(name)) {
            assert!(division.programs.contains(&name), "{name} is not listed for its division");
        }
        let packs: Vec<_> = tables.rule.iter().map(|rule| rule.pack.as_deref()).collect();
        assert!(packs.iter().all(|pack| *pack == division.pack), "{packs:?}");
        assert!(division.pack.is_none_or(|pack| Book::PACKS.contains(&pack)));
        assert!(
            tables.zone.is_empty() && tables.safe.is_empty() && tables.rotation.is_empty(),
            "those are people's own"
        );
        for program in division.programs {
            assert!(!seen.contains(program), "{program} stands in two divisions");
            seen.push(program);
        }
    }
}

/// Where a table is about a sub-command of which no word is known here, its lines would pass as plain reads.
#[test]
fn the_verbs_of_a_division_are_those_of_its_tables() {
    let mut told = 0;
    for division in &built_in::DIVISIONS {
        let Some(verbs) = &division.verbs else { continue };
        let tables = Tables::read(division.text).expect("TOML");
        let of_rules = tables.rule.iter().map(|it| &it.subcommand);
        let of_others =
            tables.launcher.iter().map(|it| &it.subcommand).chain(tables.writer.iter().map(|it| &it.subcommand));
        let all = of_rules.chain(of_others).chain(tables.sql.iter().map(|it| &it.subcommand));
        let words = all.flat_map(|it| it.as_ref().expect("a table about sub-commands").iter());
        let last = |words: &str| words.rsplit(' ').next().unwrap_or_default().to_owned();
        let acts: BTreeSet<String> = words.map(last).collect();
        assert_eq!(acts.iter().collect::<Vec<_>>(), verbs.acts, "sorted, and each once");
        let commands = tables.program.iter().flat_map(|program| &program.command).filter(|command| command.group);
        let groups: BTreeSet<String> = commands.flat_map(|command| command.path.iter()).map(last).collect();
        assert_eq!(groups.iter().collect::<Vec<_>>(), verbs.groups);
        assert!(tables.program.iter().all(|program| program.group), "the first word is a sub-command");
        told += 1;
    }
    assert_eq!(told, 2);
}

/// What is read on the way of every command says what is printed. `LOCKED_BLESS=1` writes it anew from the TOML.
#[test]
fn the_quick_form_of_each_division_says_the_same() {
    let place = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/rules/built_in");
    let mut written = 0;
    for entry in std::fs::read_dir(&place).expect("tables") {
        let path = entry.expect("entry").path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let table: toml::Table = toml::from_str(&std::fs::read_to_string(&path).expect("tables")).expect("TOML");
        let quick = serde_json::to_string(&table).expect("JSON") + "\n";
        let beside = place.join("quick").join(path.file_name().expect("name")).with_extension("json");
        if std::env::var_os("LOCKED_BLESS").is_some() {
            std::fs::write(&beside, &quick).expect("written");
        }
        let found = std::fs::read_to_string(&beside).unwrap_or_default();
        assert!(found == quick, "{} is not what the TOML says: LOCKED_BLESS=1 cargo test quick_form", beside.display());
        written += 1;
    }
    assert_eq!(written, built_in::DIVISIONS.len(), "each division has a file of its own");
    for (at, division) in built_in::DIVISIONS.iter().enumerate() {
        let text = Tables::read(division.text).expect("TOML");
        assert!(
            Book::new().tables(at) == &text,
            "what is compiled in is not built from the file yet: {:?}",
            division.programs
        );
        assert_ne!(text, Tables::default(), "{:?}", division.programs);
        let expressions = |rule: &Rule| [rule.matches.clone(), rule.text.clone(), rule.sql.clone()].concat();
        for expression in text.rule.iter().flat_map(expressions) {
            assert!(expression.is_built(), "{expression:?}");
        }
    }
}
