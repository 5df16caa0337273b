//! The manual: what Undertone computes, what it promises, and what its files mean. It holds pages and no code.
//!
//! | page | answers |
//! | --- | --- |
//! | [`tutorial`] | From two commands to my own graph, rows and algorithm: how? |
//! | [`cookbook`] | How do I …? |
//! | [`choosing_epsilon`] | Which ε do I choose, and what does it mean to somebody it is about? |
//! | [`watching`] | How do I watch a run, or a node, in a browser? |
//! | [`protocol`] | How do peers compute together? What is in a message? |
//! | [`threat_model`] | Who is protected from whom? What is public, and what does no ε cover? |
//! | [`accounting`] | How does ε become noise, and noise ε? Where is the proof? |
//! | [`algorithms`] | What is released, and which algorithm is the right one? |
//! | [`averaging`] | How does everybody come to know the sum, and at which cost? |
//! | [`engines`] | How is a session run, and which engines give equal bits? How large can it be? |
//! | [`commands`] | What can be typed, and what do exit codes mean? |
//! | [`experiment_files`] | What does each key of an experiment file mean? |
//! | [`laplace`] | What is (ε, 0), what does it cost, and when is it worth that? |
//! | [`matrices`] | How are the principal components of a table of numbers found, and when should they not be? |
//! | [`completion`] | How are ratings predicted that were never given, and what stays at home? |
//! | [`results`] | What does each file and each number of a result mean? |
//! | [`deployment`] | How do peers on hosts of their own agree on a session, and what does it cost them? |
//! | [`lost_peers`] | What happens when peers crash or lose one another, and what does it cost? |
//! | [`deviating_peers`] | What can a peer do that does not do as it should, and who is named for it? |
//! | [`campaigns`] | How are figures and tables made from many runs? |
//! | [`recommendation`] | How does a basis recommend, and what is private about it? |
//! | [`topologies`] | Which graphs are there, and how do I bring my own? |
//! | [`python`] | How is all of it used from Python, and what does the estimator promise? |
//! | [`testing_other_systems`] | Does a system of my own, in any language, run what it publishes? |
//! | [`papers`] | What is taken from which paper, and what is done otherwise? |
//! | [`errata`] | What do the papers state wrongly? |
//! | [`glossary`] | What is a thing called in text, formulas, files and code? |
//! | [`dependencies`] | Which crates are used, and why? |

#[doc(inline)]
pub use crate::privacy::errata;

macro_rules! pages {
    ($($page:ident = $($file:literal),+;)*) => {
        $(
            $(#[doc = include_str!($file)])+
            pub mod $page {}
        )*
    };
}

pages! {
    tutorial = "tutorial.md";
    cookbook = "cookbook.md";
    choosing_epsilon = "choosing_epsilon.md";
    // The first definition of a link counts: here those that hold the pictures themselves, in the repository those of the page.
    watching = "pictures/live.links", "watching.md";
    protocol = "protocol.md";
    threat_model = "threat_model.md";
    accounting = "accounting.md";
    algorithms = "algorithms.md";
    averaging = "averaging.md";
    engines = "engines.md";
    commands = "commands.md";
    experiment_files = "experiment_files.md";
    laplace = "laplace.md";
    matrices = "matrices.md";
    completion = "completion.md";
    deployment = "deployment.md";
    lost_peers = "lost_peers.md";
    deviating_peers = "deviating_peers.md";
    results = "results.md";
    campaigns = "campaigns.md";
    recommendation = "recommendation.md";
    topologies = "topologies.md";
    python = "python.md";
    testing_other_systems = "testing_other_systems.md";
    papers = "papers.md";
    glossary = "glossary.md";
    dependencies = "dependencies.md";
}
