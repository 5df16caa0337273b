//! What a check of a receipt can vouch for, field by field, and what it cannot.

use serde::Serialize;

use super::document::{
    AssumedFacts, Choice, Partners, PilotReceipt, RealisedReceipt, Receipt, Scaled, StatedAttempt,
};
use crate::algorithm::{BlockSpec, Prelude, Program, ReleaseSpec, ThresholdSearch};
use crate::plan::{LossTolerance, Promise};
use crate::scenario::StatedItems;

/// How far a check can vouch for a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// It follows from the other fields: changed alone, it is found.
    Recomputed,
    /// It must fit the other fields, but more than one value can: some changes are found, others are not.
    CrossChecked,
    /// Nothing else in the receipt says anything about it.
    OnTrust,
}

/// One field of a receipt and how far a check can vouch for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FieldStanding {
    /// The field as in the JSON, `[]` for every entry of a list.
    pub field: &'static str,
    /// How far.
    pub standing: Standing,
    /// By what, or why not.
    pub why: &'static str,
}

/// Something a receipt asserts and nobody can recompute from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Trusted {
    /// What is believed.
    pub what: &'static str,
    /// Why it cannot be checked, and who could know.
    pub why: &'static str,
}

/// What a receipt that holds still asks to be believed.
pub const ON_TRUST: [Trusted; 10] = [
    Trusted {
        what: "that the run took place, with this version and runner",
        why: "a receipt is not signed: whoever knows the formulas can write one that holds",
    },
    Trusted {
        what: "that every peer drew this noise, from keys nobody else knows",
        why: "the check sees standard deviations, not noise; a seed that leaks or repeats takes the protection away",
    },
    Trusted {
        what: "that noise was shared on this graph and on no other",
        why: "the graph is hashed and accounted as stated; only the two ends of an edge know whether they used it",
    },
    Trusted {
        what: "the statistics of X as agreed before each release",
        why: "the sensitivity must follow from them, but they follow from the released X, which is not in the receipt",
    },
    Trusted {
        what: "that these releases are those of the algorithm named",
        why: "what was released is not in the receipt; compare the dimension, rank and shape of basis.npy, and run the algorithm to see its program",
    },
    Trusted {
        what: "that program.proved is so, and that a bound of one's own is one",
        why: "what is proved of an algorithm beyond its quantities is in its documentation; of an algorithm of one's own it is its author's word",
    },
    Trusted {
        what: "that every peer divided its rows by the degree floor and kept to the cap",
        why: "the bounds hold for rows treated so; the rows are private",
    },
    Trusted {
        what: "which data it was, and that the lists it takes for public are",
        why: "a digest of private data would be a way to test guesses, so the receipt has none",
    },
    Trusted {
        what: "that no more peers collude than the view says",
        why: "the views beyond the promise say what more of them would learn",
    },
    Trusted {
        what: "that nothing was published but the release",
        why: "epsilon covers basis.npy and trace/; summary.json, metrics.csv, report.html, items.csv, catalogue.csv and the seed are not covered",
    },
];

/// Lines of a table of fields, and a pattern that names them all: a field without a line does not compile.
macro_rules! fields {
    ($type:ident, $prefix:literal, $($field:ident: $standing:ident, $why:literal;)+) => {{
        let _every_field_has_a_line = |$type { $($field: _),+ }: &$type| ();
        [$(FieldStanding {
            field: concat!($prefix, stringify!($field)),
            standing: Standing::$standing,
            why: $why,
        }),+]
    }};
}

/// Lines of fields that no type here has by name: of a private type, or of one variant of several.
macro_rules! lines {
    ($($field:literal: $standing:ident, $why:literal;)+) => {
        [$(FieldStanding {
            field: $field,
            standing: Standing::$standing,
            why: $why,
        }),+]
    };
}

impl Receipt {
    /// Every field of a receipt and how far [`Receipt::check`] can vouch for it, by its path. A field without a line of its own has that of the table that it
    /// is in: everything below `guarantee` is computed again.
    #[doc(hidden)]
    #[must_use]
    pub fn standings() -> Vec<FieldStanding> {
        [whole(), promise(), program(), events()].concat()
    }
}

fn whole() -> Vec<FieldStanding> {
    let whole = fields! { Receipt, "",
        schema: Recomputed, "another schema is refused";
        version: OnTrust, "nothing depends on it";
        name: OnTrust, "nothing depends on it";
        runner: CrossChecked, "it shows no more than the promise covers; runners that show the same look alike";
        config_hash: OnTrust, "the configuration is not in the receipt; who has it can hash it";
        program: CrossChecked, "see its fields";
        promise: CrossChecked, "see its fields";
        partners: CrossChecked, "see its fields";
        guarantee: Recomputed, "planned again from the program, the promise and the noise graph, and compared leaf by leaf";
        releases: CrossChecked, "as many as the program makes; see their fields";
        statement: Recomputed, "follows from the promise";
        choice: CrossChecked, "there is one where an algorithm was chosen; that the rule chose so is on trust, as the graph and the item degrees are not all in the receipt";
        pilot: CrossChecked, "there is one where promise.part leaves it a share; see its fields";
        realised: CrossChecked, "see its fields";
        item_list: CrossChecked, "see its fields";
        preconditioning: CrossChecked, "there is one where the program has a P, and it must be stated among the assumptions; the degrees are those of items.csv";
        assumed: CrossChecked, "see its fields";
        assumptions: Recomputed, "exactly those that the promise, the item list, P, the choice and the assumed facts call for";
    };
    let partners = fields! { Partners, "partners.",
        nodes: Recomputed, "hashed, and enters the noise";
        hash: Recomputed, "hashed again";
        names: OnTrust, "what the peers are called; nothing depends on it";
        edges: Recomputed, "hashed, and enter the noise";
        most_rows: CrossChecked, "decides what contributions are clamped to, where sums are of integers; how many rows a peer holds is on trust";
    };
    let scaled = fields! { Scaled, "releases[].",
        statistic: CrossChecked, "must be possible, and the sensitivity must follow from it; the agreement itself is on trust";
        sensitivity: Recomputed, "bounded again from the statistic";
        noise_factor: Recomputed, "computed again from the division of the budget";
    };
    let items = fields! { StatedItems, "item_list.",
        source: CrossChecked, "the assumption that it calls for must be stated";
        items: Recomputed, "as many as the program says";
        hash: OnTrust, "the list is not in the receipt; who has it can hash it";
    };
    let assumed = fields! { AssumedFacts, "assumed.",
        own_files: CrossChecked, "the assumption that it calls for must be stated";
        users: CrossChecked, "the assumption that it calls for must be stated";
        start: CrossChecked, "the assumption that it calls for must be stated";
        recommender: CrossChecked, "the assumption that it calls for must be stated";
    };
    [&whole[..], &partners, &scaled, &items, &assumed].concat()
}

fn promise() -> Vec<FieldStanding> {
    let promise = fields! { Promise, "promise.",
        epsilon: Recomputed, "decides the noise, and the view promised must be within it";
        delta: Recomputed, "decides the noise and every view";
        bounds: CrossChecked, "see its fields";
        calibration: CrossChecked, "decides the noise, where two calibrations rarely agree";
        split: Recomputed, "decides the noise factor of each release";
        part: Recomputed, "decides the noise factors of the run, and with pilot.part it is the whole budget";
        noise: CrossChecked, "decides the noise; a curator or an ideal secure sum makes some kinds alike";
        colluders: CrossChecked, "decides the noise and which view is promised, where the noise looks at it";
        losses: CrossChecked, "decides the noise, for how many releases it is and which view is promised";
        participants: CrossChecked, "decides the noise, the groups and the statement";
        seen: CrossChecked, "decides the noise, the views and the statement";
    };
    let parts = lines! {
        "promise.bounds.adjacency": CrossChecked, "enters the sensitivity and the statement, where the bounds of two adjacencies can agree";
        "promise.bounds.rule": CrossChecked, "enters the sensitivity, where two rules can agree";
        "promise.bounds.degree_floor": CrossChecked, "enters the sensitivity of some adjacencies; that rows were divided so is on trust";
        "promise.bounds.degree_cap": CrossChecked, "enters the sensitivity of some adjacencies; that rows were cut so is on trust";
        "promise.bounds.rating": CrossChecked, "enters the sensitivity of one adjacency; that ratings were clipped so is on trust";
        "promise.noise.pairwise": CrossChecked, "decides the noise; what is done where a coalition can split the graph decides it there alone";
        "promise.noise.ring": CrossChecked, "decides the noise and the integers, as far as the noise looks at it";
        "promise.noise.wishart": CrossChecked, "decides the noise; a secure sum makes some schemes alike";
        "promise.noise.laplace": CrossChecked, "decides who draws, and holders must be more than the colluders";
    };
    let losses = fields! { LossTolerance, "promise.losses.",
        tolerate: CrossChecked, "decides the noise and which view is promised";
        retries: Recomputed, "decides for how many releases noise is planned";
    };
    [&promise[..], &parts, &losses].concat()
}

fn program() -> Vec<FieldStanding> {
    let program = fields! { Program, "program.",
        name: OnTrust, "nothing depends on it; that these are the releases of an algorithm so called is on trust";
        settings: CrossChecked, "the digest of a P must be there where one is stated; other numbers that the releases do not show are on trust";
        items: Recomputed, "as many items are listed, and every release has a shape that follows";
        query_columns: Recomputed, "every release has a shape that follows";
        rank: CrossChecked, "0 of a pilot alone; otherwise compare basis.npy";
        releases: CrossChecked, "see their fields";
        proved: OnTrust, "what is proved of an algorithm beyond its quantities; what it says must allow the bounds";
        degree_floor: CrossChecked, "that of the bounds, where the releases are weighed for one";
        largest_entry: OnTrust, "decides how far sums may round";
        prelude: CrossChecked, "see its fields";
        search: CrossChecked, "see its fields";
        state: OnTrust, "what a peer remembers; nothing that is promised depends on it";
    };
    let run = lines! {
        "program.releases[].count": Recomputed, "how many releases there are decides the noise, and as many are listed";
        "program.releases[].first": CrossChecked, "see its fields";
    };
    let release = fields! { ReleaseSpec, "program.releases[].first.",
        iteration: CrossChecked, "counted from 1 and never falling";
        form: CrossChecked, "decides the noise, and goes with some quantities only";
        blocks: CrossChecked, "see their fields";
        agreement: CrossChecked, "decides which statistics are possible";
        may_end_before: CrossChecked, "without it all releases must be listed";
        ceiling: CrossChecked, "enters the sensitivity of some adjacencies, where the program was not ended";
        batch: CrossChecked, "decides for how many releases a record is charged";
        share: CrossChecked, "decides the noise factors, where two releases have different shares";
    };
    let block = fields! { BlockSpec, "program.releases[].first.blocks[].",
        quantity: CrossChecked, "decides the shape and the sensitivity, where the bounds of two quantities can agree";
        shape: Recomputed, "follows from the quantity, but for histograms and quantities of one's own";
        columns: Recomputed, "that of the query";
        weight: CrossChecked, "the weights of a release add up to 1";
    };
    let prelude = fields! { Prelude, "program.prelude.",
        slots: OnTrust, "how many rows there may be";
        raw_clip: OnTrust, "a length above 0; that rows were shortened so is on trust";
        radius: OnTrust, "a length above 0; that rows were shortened so is on trust";
        unit_box: OnTrust, "the quantity of the mean says what its bound rests on";
        share: Recomputed, "decides the noise factor of each release";
    };
    let search = fields! { ThresholdSearch, "program.search.",
        thresholds: OnTrust, "what is released does not depend on how many there are";
        most_above: OnTrust, "a public number";
        share: Recomputed, "decides the noise and the search's epsilon";
        epsilon: Recomputed, "follows from the promise and the share";
    };
    [&program[..], &run, &release, &block, &prelude, &search].concat()
}

fn events() -> Vec<FieldStanding> {
    let pilot = fields! { PilotReceipt, "pilot.",
        part: Recomputed, "decides its noise factor, and with promise.part it is the whole budget";
        program: CrossChecked, "a pilot over the items of the run; otherwise as the program";
        guarantee: Recomputed, "planned again, and together with that of the run held against the epsilon asked for";
        releases: Recomputed, "one, scaled by the bound on counts and the pilot's part";
        counts: OnTrust, "what was released: as many finite numbers as thresholds";
        shares: OnTrust, "what was released: as many finite numbers as items";
        bytes_max_peer: OnTrust, "nothing depends on it";
    };
    let realised = fields! { RealisedReceipt, "realised.",
        attempts: OnTrust, "what happened; the promise does not rest on it";
        planned_mu: Recomputed, "accounted again from the attempts";
        planned_epsilon: Recomputed, "accounted again from the attempts";
        mu: Recomputed, "accounted again from the attempts";
        epsilon: Recomputed, "accounted again from the attempts";
        is_exact: Recomputed, "follows from the number of peers and colluders";
    };
    let attempt = fields! { StatedAttempt, "realised.attempts[].",
        release: CrossChecked, "one of the program's";
        retry: CrossChecked, "at most the retries";
        view: CrossChecked, "one view has one list of members";
        members: CrossChecked, "of the noise graph, as many as the session needs";
        read: CrossChecked, "members";
    };
    let choice = fields! { Choice, "choice.",
        rule: OnTrust, "which rule chose; a session of another choice would have been as private";
        chosen: OnTrust, "words for what the program says in numbers";
    };
    [&pilot[..], &realised, &attempt, &choice].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_has_one_line_and_a_reason() {
        let mut names: Vec<&str> = Receipt::standings().iter().map(|line| line.field).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(Receipt::standings().iter().all(|line| !line.why.is_empty()));
    }
}
