//! Circles: files, or neighbours in a folder, that import one another.

use std::collections::{BTreeMap, BTreeSet};

use super::modules::{Arrow, Modules};

/// Every circle of files, told with what ties it.
pub(super) fn of_files(modules: &Modules) -> Vec<String> {
    let arrows = &modules.arrows;
    let pairs = arrows.iter().map(|arrow| (arrow.from, arrow.to)).collect();
    let name = |file: usize| modules.modules[file].file.clone();
    told(&circles(&pairs), arrows, modules, Some, name)
}

/// Every circle of neighbours: of the files and folders of one folder, each with all that it holds.
pub(super) fn of_neighbours(modules: &Modules) -> Vec<String> {
    let arrows = &modules.arrows;
    let folders: BTreeSet<&[String]> = modules
        .modules
        .iter()
        .flat_map(|module| (0..module.path.len()).map(|length| &module.path[..length]))
        .collect();
    let mut found = Vec::new();
    for folder in folders {
        let mut names: Vec<&String> = Vec::new();
        let places: Vec<Option<usize>> = modules
            .modules
            .iter()
            .map(|module| {
                let name = module.path.strip_prefix(folder)?.first()?;
                Some(
                    names
                        .iter()
                        .position(|known| *known == name)
                        .unwrap_or_else(|| {
                            names.push(name);
                            names.len() - 1
                        }),
                )
            })
            .collect();
        let pairs = arrows
            .iter()
            .filter_map(|arrow| Some((places[arrow.from]?, places[arrow.to]?)))
            .filter(|(from, to)| from != to)
            .collect();
        let name = |place: usize| format!("{}::{}", folder.join("::"), names[place]);
        found.extend(told(
            &circles(&pairs),
            arrows,
            modules,
            |file| places[file],
            name,
        ));
    }
    found
}

/// A line for every circle and one for each arrow in it.
fn told(
    circles: &[BTreeSet<usize>],
    arrows: &BTreeSet<Arrow>,
    modules: &Modules,
    place: impl Fn(usize) -> Option<usize>,
    name: impl Fn(usize) -> String,
) -> Vec<String> {
    let mut lines = Vec::new();
    for circle in circles {
        let members: Vec<String> = circle.iter().map(|&member| name(member)).collect();
        let mut text = format!("a circle: {}", members.join(", "));
        let mut shown = BTreeSet::new();
        for arrow in arrows {
            let (from, to) = (place(arrow.from), place(arrow.to));
            let inside = |place: Option<usize>| place.is_some_and(|place| circle.contains(&place));
            if from != to && inside(from) && inside(to) && shown.insert((arrow.from, arrow.to)) {
                let file = |index: usize| &modules.modules[index].file;
                let (from, to) = (file(arrow.from), file(arrow.to));
                text += &format!("\n    {from} -> {to}: {}", arrow.named);
            }
        }
        lines.push(text);
    }
    lines
}

/// The sets of more than one place that all reach one another.
fn circles(pairs: &BTreeSet<(usize, usize)>) -> Vec<BTreeSet<usize>> {
    let mut next: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for &(from, to) in pairs {
        next.entry(from).or_default().push(to);
    }
    let reached: BTreeMap<usize, BTreeSet<usize>> = next
        .keys()
        .map(|&start| (start, reach(start, &next)))
        .collect();
    let mut circles: Vec<BTreeSet<usize>> = Vec::new();
    for (start, far) in &reached {
        let back = |other: &&usize| reached.get(*other).is_some_and(|far| far.contains(start));
        let circle: BTreeSet<usize> = far.iter().filter(back).copied().collect();
        if circle.len() > 1 && !circles.contains(&circle) {
            circles.push(circle);
        }
    }
    circles
}

/// What can be reached from `start` in one step or more.
fn reach(start: usize, next: &BTreeMap<usize, Vec<usize>>) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut open = vec![start];
    while let Some(here) = open.pop() {
        for &there in next.get(&here).into_iter().flatten() {
            if reached.insert(there) {
                open.push(there);
            }
        }
    }
    reached
}
