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
