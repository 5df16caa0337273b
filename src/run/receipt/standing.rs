//! What a check of a receipt can vouch for, field by field, and what it cannot.

use serde::Serialize;

use super::document::{
    Choice, NoiseGraph, PilotReceipt, RealisedReceipt, Receipt, Request, RingRows, Scaled,
    StatedAttempt,
};
use crate::privacy::{GroupLoss, View};
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
pub const ON_TRUST: [Trusted; 9] = [
    Trusted {
        what: "that the run took place, with this version and engine",
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
        what: "the statistics of X as agreed in each iteration",
        why: "the sensitivity must follow from them, but they follow from the released X, which is not in the receipt",
    },
    Trusted {
        what: "the dimension, rank and algorithm of what was released",
        why: "the release is not in the receipt; compare the shape of basis.npy",
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

impl Receipt {
    /// Every field of a receipt and how far [`Receipt::check`] can vouch for it. The tables `request` and `noise_graph` and
    /// the lists `iterations` and `views` are given by their fields.
    #[must_use]
    pub fn standings() -> Vec<FieldStanding> {
        let whole = fields! { Receipt, "",
            schema: Recomputed, "another schema is refused";
            version: OnTrust, "nothing depends on it";
            name: OnTrust, "nothing depends on it";
            engine: CrossChecked, "who is trusted decides the noise and the views; engines that trust the same look alike";
            config_hash: OnTrust, "the configuration is not in the receipt; who has it can hash it";
            request: CrossChecked, "see its fields";
            noise_graph: CrossChecked, "see its fields";
            sigma_own: Recomputed, "planned again from the request and the graph";
            sigma_pairwise: Recomputed, "planned again from the request and the graph";
            sigma_sum: Recomputed, "planned again from the request and the graph";
            iterations: CrossChecked, "as many as requested; see their fields";
            views: Recomputed, "accounted again; see their fields";
            promise: Recomputed, "follows from the adjacency, the engine and the colluders";
            groups: Recomputed, "bounded again; see their fields";
            ring: Recomputed, "planned again from the request, the rows per peer and the graph";
            laplace: Recomputed, "planned again from the request and the graph";
            item_list: CrossChecked, "see its fields";
            choice: CrossChecked, "there is one where an algorithm was chosen; that the rule chose so is on trust, as the graph and the item degrees are not all in the receipt";
            pilot: CrossChecked, "there is one where a pilot has a share; see its fields";
            realised: CrossChecked, "see its fields";
            assumptions: Recomputed, "exactly those that the request and the item list call for; older receipts may state more";
        };
        let request = fields! { Request, "request.",
            epsilon: Recomputed, "decides the noise, and the view promised must be within it";
            delta: Recomputed, "decides the noise and every view";
            adjacency: CrossChecked, "enters the sensitivity, where the bounds of two adjacencies can agree";
            sensitivity: CrossChecked, "enters the sensitivity, where two rules can agree";
            degree_floor: CrossChecked, "enters the sensitivity of some adjacencies; that rows were divided so is on trust";
            degree_cap: CrossChecked, "enters the sensitivity of some adjacencies; that rows were cut so is on trust";
            algorithm: CrossChecked, "enters the sensitivity and the number of iterations, where two algorithms can agree";
            dimension: Recomputed, "as many items are listed, and a statistic must be possible in this dimension";
            rank: CrossChecked, "enters the sensitivity of some rules, and a statistic must be possible for it";
            block: CrossChecked, "at least the rank; enters the sensitivity of some rules";
            iterations: Recomputed, "decides the noise, and as many are listed";
            eigenvalue_share: Recomputed, "decides the noise factor of each iteration, where the algorithm releases eigenvalues";
            descent: Recomputed, "decides which releases frank-wolfe and its kin make, and how many";
            completion: CrossChecked, "decides which releases there are and what each spends; what is public of the rows is on trust";
            coherence: CrossChecked, "enters the sensitivity of some adjacencies, where noise has a fixed scale and the run was not aborted";
            clip: CrossChecked, "decides which releases there are and what each spends; that contributions were clipped so is on trust";
            calibration: CrossChecked, "decides the noise, where two calibrations rarely agree";
            budget: Recomputed, "decides the noise factor of each iteration";
            scheme: CrossChecked, "decides the noise; a curator or an ideal secure sum makes some schemes alike";
            distribution: CrossChecked, "decides the noise and the kind of sensitivity";
            holders: CrossChecked, "decides who draws, and must be more than the colluders";
            colluders: CrossChecked, "decides the noise and which view is promised, where the scheme looks at it";
            dropouts: CrossChecked, "decides the noise, for how many releases it is and which view is promised";
            overhead: CrossChecked, "decides the noise, where the scheme looks at it";
            on_disconnect: CrossChecked, "decides the noise where a coalition can split the graph, and nothing elsewhere";
            rating: CrossChecked, "enters the sensitivity of one adjacency; that ratings were clipped so is on trust";
            vertices: CrossChecked, "decides which releases there are, where the bounds of two adjacencies can agree";
            rows: CrossChecked, "at most the peers; who publishes when costs the same";
            preconditioning: CrossChecked, "must be stated among the assumptions, and the algorithm must go with it; the degrees are those of items.csv";
            centring: CrossChecked, "decides which releases there are and what each spends; the lengths and the number of slots are on trust";
            ring: CrossChecked, "there is one where the scheme is ring and a sum is made; see its fields";
            own_files: CrossChecked, "decides which groups must be stated, what the promise says and what is assumed; that peers read files of their own is on trust";
            participants_per_person: CrossChecked, "decides the noise, the groups and the promise; 1 is what is meant without it";
            start: CrossChecked, "the assumption that it calls for must be stated";
            recommender: CrossChecked, "the assumption that it calls for must be stated";
            users: CrossChecked, "the assumption that it calls for must be stated";
            pilot_share: Recomputed, "decides the noise factors of the pilot and of the run, and whether there is a pilot";
        };
        let pilot = fields! { PilotReceipt, "pilot.",
            thresholds: Recomputed, "the public ones";
            counts: OnTrust, "what was released: as many finite numbers as thresholds";
            shares: OnTrust, "what was released: as many finite numbers as items";
            sigma_own: Recomputed, "planned again from the request and the graph";
            sigma_pairwise: Recomputed, "planned again from the request and the graph";
            sigma_sum: Recomputed, "planned again from the request and the graph";
            iterations: Recomputed, "one, scaled by the bound on counts and the pilot's share";
            views: Recomputed, "accounted again, and together with those of the run held against the epsilon asked for";
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
            chosen: OnTrust, "words for what the request says in numbers";
        };
        let ring = fields! { RingRows, "request.ring.",
            rows: CrossChecked, "decides what contributions are clamped to; how many rows a peer holds is on trust";
            bits: CrossChecked, "must hold every sum";
        };
        let graph = fields! { NoiseGraph, "noise_graph.",
            nodes: Recomputed, "hashed, and enters the noise";
            hash: Recomputed, "hashed again";
            names: OnTrust, "what the peers are called; nothing depends on it";
            edges: Recomputed, "hashed, and enter the noise";
        };
        let scaled = fields! { Scaled, "iterations[].",
            statistic: CrossChecked, "must be possible, and the sensitivity must follow from it; the agreement itself is on trust";
            sensitivity: Recomputed, "bounded again from the statistic";
            noise_factor: Recomputed, "computed again from the budget";
        };
        let view = fields! { View, "views[].",
            view: Recomputed, "accounted again";
            colluders: Recomputed, "accounted again";
            mu: Recomputed, "accounted again";
            epsilon: Recomputed, "accounted again";
            gap_to_central: Recomputed, "accounted again";
            gap_colluders: Recomputed, "accounted again";
            gap_finite: Recomputed, "accounted again";
            certificate: Recomputed, "accounted again";
        };
        let group = fields! { GroupLoss, "groups[].",
            peers: Recomputed, "as many sizes as the engine, the adjacency and own files call for";
            mu: Recomputed, "bounded again";
            epsilon: Recomputed, "bounded again";
        };
        let items = fields! { StatedItems, "item_list.",
            source: CrossChecked, "the assumption that it calls for must be stated";
            items: Recomputed, "as many as the dimension says";
            hash: OnTrust, "the list is not in the receipt; who has it can hash it";
        };
        let tables = [
            &whole[..],
            &request,
            &ring,
            &graph,
            &scaled,
            &view,
            &group,
            &items,
            &pilot,
            &choice,
            &realised,
            &attempt,
        ];
        tables.concat()
    }
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
