//! What experiment files are changed by: a name and keys, those of one setting divided by `;`.

/// What a setting starts from: an experiment file and the keys that make it small.
pub(super) struct Base {
    /// Prefix of the names of its settings.
    pub(super) name: &'static str,
    pub(super) file: &'static str,
    pub(super) set: &'static str,
    pub(super) changes: &'static [(&'static str, &'static str)],
}

/// All of them.
pub(super) const BASES: [Base; 10] = [
    Base {
        name: "interactions",
        file: "tests/power.toml",
        set: "peers.count=8;topology={generator=\"complete\"};averaging={scheme=\"tree\"};data.items=40;algorithm.rank=3",
        changes: &INTERACTIONS,
    },
    Base {
        name: "gossip",
        file: "tests/power.toml",
        set: "peers.count=24;topology.degree=12;data.items=30;algorithm.rank=2",
        changes: &GOSSIP,
    },
    Base {
        name: "users",
        file: "tests/power.toml",
        set: "data.items=30;algorithm.rank=2",
        changes: &[("quickstart", "")],
    },
    Base {
        name: "list",
        file: "tests/power.toml",
        set: "peers.count=4;topology={generator=\"complete\"};averaging={scheme=\"tree\"};data={path=TABLE,format=\"table\",degree_floor=2};algorithm.rank=1",
        changes: &LISTS,
    },
    Base {
        name: "numbers",
        file: "tests/power.toml",
        set: "data={path=\"../sims/data/breast-cancer/breast-cancer.csv.gz\",format=\"matrix-csv\",header=true,drop=[\"last\"],ranges=[0,100],row_clip=3};peers.count=8;topology={generator=\"complete\"};averaging={scheme=\"tree\"};privacy.adjacency=user;privacy.sensitivity=unit-row",
        changes: &NUMBERS,
    },
    Base {
        name: "generated",
        file: "tests/power.toml",
        set: "data={format=\"generated\",generate={kind=\"spiked\",rows=60,columns=20,strengths=[3.0],noise=0.1,seed=1},ranges=[-5,5],row_clip=3};peers.count=8;topology={generator=\"complete\"};averaging={scheme=\"tree\"};privacy.adjacency=user;privacy.sensitivity=unit-row",
        changes: &[
            ("power", ""),
            ("replaced", "privacy.adjacency=replace-user"),
        ],
    },
    Base {
        name: "ratings",
        file: "tests/power.toml",
        set: "data={path=\"../sims/data/ml-latest-small/ratings.csv.gz\",format=\"movielens-csv\",items=30,values=\"ratings\",ranges=[0.5,5],row_clip=5};peers.count=8;topology={generator=\"complete\"};averaging={scheme=\"tree\"};algorithm.rank=2;privacy.adjacency=user;privacy.sensitivity=unit-row",
        changes: &RATINGS,
    },
    Base {
        name: "completion",
        file: "tests/power.toml",
        set: "data={path=\"../sims/data/ml-latest-small/ratings.csv.gz\",format=\"movielens-csv\",items=30,values=\"ratings\",ranges=[0.5,5],row_clip=5,centre=\"user\"};peers.count=8;topology={generator=\"complete\"};averaging={scheme=\"tree\"};privacy.adjacency=user;privacy.sensitivity=unit-row",
        changes: &COMPLETION,
    },
    Base {
        name: "graph",
        file: "sims/graph-eigenvector.toml",
        set: "data.path=../topologies/karate.edges;algorithm.iterations=3",
        changes: &GRAPH,
    },
    Base {
        name: "bipartite",
        file: "sims/lower-bound.toml",
        set: "data.generate.size=20;algorithm.iterations=4",
        changes: &BIPARTITE,
    },
];

const INTERACTIONS: [(&str, &str); 84] = [
    ("power", ""),
    ("local", "noise.scheme=local"),
    ("ring", "noise.scheme=ring"),
    ("ring of 64 bits", "noise.scheme=ring;noise.bits=64"),
    (
        "ring under weights",
        "noise.scheme=ring;privacy.budget=[3, 2, 1]",
    ),
    (
        "independent",
        "noise.scheme=independent;engine.kind=federated",
    ),
    ("pairwise in a secure sum", "engine.kind=federated"),
    ("curator", "engine.kind=central"),
    (
        "curator under local noise",
        "engine.kind=central;noise.scheme=local",
    ),
    ("no noise", "noise.scheme=none"),
    (
        "laplace of all",
        "noise.distribution=laplace;privacy.delta=0;noise.scheme=independent;engine.kind=federated",
    ),
    (
        "laplace of holders",
        "noise.distribution=laplace;noise.holders=3",
    ),
    (
        "laplace of a curator",
        "noise.distribution=laplace;privacy.delta=0;engine.kind=central",
    ),
    (
        "local laplace",
        "noise.distribution=laplace;privacy.delta=0;noise.scheme=local",
    ),
    (
        "laplace under weights",
        "noise.distribution=laplace;privacy.delta=0;noise.scheme=local;privacy.budget=[3, 2, 1]",
    ),
    ("event", "engine.kind=event"),
    ("analytic", "engine.kind=analytic"),
    ("swarm", "engine.kind=swarm;engine.transport=memory"),
    ("low rank", "algorithm.output=low-rank"),
    ("popularity", "algorithm.start=popularity"),
    ("momentum", "algorithm.kind=momentum;algorithm.momentum=0.3"),
    (
        "momentum, local",
        "algorithm.kind=momentum;algorithm.momentum=0.3;noise.scheme=local",
    ),
    (
        "krylov",
        "algorithm.kind=krylov;algorithm.block=6;privacy.budget=[3, 2, 1]",
    ),
    (
        "krylov, ring",
        "algorithm.kind=krylov;algorithm.block=6;noise.scheme=ring",
    ),
    (
        "krylov, curator",
        "algorithm.kind=krylov;algorithm.block=6;engine.kind=central",
    ),
    (
        "covariance",
        "algorithm.kind=covariance;algorithm.iterations=1",
    ),
    (
        "covariance, ring",
        "algorithm.kind=covariance;algorithm.iterations=1;noise.scheme=ring",
    ),
    (
        "covariance, laplace",
        "algorithm.kind=covariance;algorithm.iterations=1;noise.distribution=laplace;noise.holders=3",
    ),
    (
        "isometric",
        "algorithm.kind=isometric-covariance;algorithm.iterations=1",
    ),
    (
        "isometric, users",
        "algorithm.kind=isometric-covariance;algorithm.iterations=1;privacy.adjacency=user",
    ),
    (
        "isometric, wishart",
        "algorithm.kind=isometric-covariance;algorithm.iterations=1;noise.distribution=wishart;privacy.delta=0;noise.scheme=local",
    ),
    (
        "covariance, wishart",
        "algorithm.kind=covariance;algorithm.iterations=1;noise.distribution=wishart;privacy.delta=0;engine.kind=federated",
    ),
    (
        "isometric, wishart of a curator",
        "algorithm.kind=isometric-covariance;algorithm.iterations=1;noise.distribution=wishart;privacy.delta=0;engine.kind=central",
    ),
    (
        "isometric, laplace",
        "algorithm.kind=isometric-covariance;algorithm.iterations=1;noise.distribution=laplace;privacy.delta=0;noise.scheme=local",
    ),
    (
        "raked",
        "algorithm.kind=raked-covariance;algorithm.iterations=1",
    ),
    (
        "raked under a root floor",
        "algorithm.kind=raked-covariance;algorithm.iterations=1;data.degree_floor=7;privacy.sensitivity=root-floor",
    ),
    (
        "raked, ring",
        "algorithm.kind=raked-covariance;algorithm.iterations=1;noise.scheme=ring",
    ),
    ("deflation", "algorithm.kind=deflation;algorithm.rank=2"),
    (
        "deflation, shares",
        "algorithm.kind=deflation;algorithm.rank=2;algorithm.eigenvalue_share=0.1;noise.scheme=local",
    ),
    (
        "deflation, ring",
        "algorithm.kind=deflation;algorithm.rank=2;noise.scheme=ring",
    ),
    (
        "deflation, laplace",
        "algorithm.kind=deflation;algorithm.rank=2;noise.distribution=laplace;noise.holders=3",
    ),
    ("ppi", "algorithm.kind=ppi;algorithm.rank=1"),
    (
        "ppi, guess",
        "algorithm.kind=ppi;algorithm.rank=1;algorithm.scale=fixed;algorithm.coherence=20",
    ),
    (
        "ppi, guess, curator",
        "algorithm.kind=ppi;algorithm.rank=1;algorithm.scale=fixed;algorithm.coherence=20;engine.kind=central",
    ),
    ("streaming", "algorithm.kind=streaming"),
    (
        "streaming, round robin",
        "algorithm.kind=streaming;algorithm.arrival=round-robin",
    ),
    (
        "streaming, secure sum",
        "algorithm.kind=streaming;noise.scheme=independent;engine.kind=federated",
    ),
    (
        "pilot",
        "algorithm={kind=\"pilot\",rank=1,iterations=1};pilot={share=0.05}",
    ),
    (
        "pilot, curator",
        "algorithm={kind=\"pilot\",rank=1,iterations=1};pilot={share=0.06};engine.kind=central",
    ),
    ("P", "algorithm.precondition=items"),
    (
        "P of other numbers",
        "algorithm.precondition=items;algorithm.precondition_exponent=0.3;algorithm.precondition_shrinkage=0.1",
    ),
    (
        "P, krylov",
        "algorithm.precondition=items;algorithm.kind=krylov;algorithm.block=4",
    ),
    ("users", "privacy.adjacency=user"),
    ("capped users", "privacy.adjacency=user;data.degree_cap=20"),
    ("capped swaps", "privacy.adjacency=swap;data.degree_cap=20"),
    ("replaced users", "privacy.adjacency=replace-user"),
    ("swaps", "privacy.adjacency=swap"),
    ("matrices", "privacy.adjacency=matrix"),
    ("unit spectral norms", "privacy.adjacency=unit-spectral"),
    ("entries", "privacy.adjacency=entry"),
    (
        "entries, local",
        "privacy.adjacency=entry;noise.scheme=local;privacy.colluders=2",
    ),
    ("row norms", "privacy.sensitivity=row-norm"),
    ("worst case", "privacy.sensitivity=worst-case"),
    ("largest entries", "privacy.sensitivity=max-entry"),
    ("root floor", "privacy.sensitivity=root-floor"),
    ("zcdp", "privacy.calibration=zcdp"),
    ("calibrated as printed", "privacy.calibration=paper"),
    ("hardt and roth", "privacy.calibration=hardt-roth"),
    ("basic", "privacy.calibration=basic"),
    ("nobody curious", "privacy.colluders=0"),
    ("two curious", "privacy.colluders=2;privacy.overhead=0.02"),
    ("weights", "privacy.budget=[3, 2, 1]"),
    ("two participants", "privacy.participants_per_person=2"),
    (
        "two participants, local",
        "privacy.participants_per_person=2;noise.scheme=local",
    ),
    (
        "two participants, ring",
        "privacy.participants_per_person=2;noise.scheme=ring",
    ),
    (
        "two participants, curator",
        "privacy.participants_per_person=2;engine.kind=central",
    ),
    (
        "two participants, laplace",
        "privacy.participants_per_person=2;noise.distribution=laplace;privacy.delta=0;noise.scheme=local",
    ),
    ("small floats", "averaging.values=f32"),
    ("held out", "evaluation.holdout=0.2"),
    ("hashed", "peers.partition=hashed"),
    (
        "another method beside",
        "compare.algorithm={kind=\"krylov\", iterations=2}",
    ),
    (
        "recommender",
        "algorithm.kind=isometric-covariance;algorithm.iterations=1;recommender={items=20}",
    ),
    (
        "recommender, auto",
        "algorithm.kind=isometric-covariance;algorithm.iterations=1;recommender={most=30,method=\"low-pass\"}",
    ),
    (
        "recommender, floor",
        "algorithm.kind=isometric-covariance;algorithm.iterations=1;recommender={items=20,degree_floor=\"auto\"}",
    ),
];

const GOSSIP: [(&str, &str); 20] = [
    ("chebyshev", ""),
    ("linear", "averaging.scheme=linear;averaging.tolerance=1e-4"),
    ("push-sum", "averaging={scheme=\"push-sum\", rounds=40}"),
    (
        "push-sum of lost messages",
        "averaging={scheme=\"push-sum\", rounds=40};engine.kind=event;engine.loss=0.01",
    ),
    (
        "pairwise",
        "averaging={scheme=\"pairwise\", rounds=60, seed=1}",
    ),
    (
        "doubling",
        "averaging={scheme=\"doubling\"};topology={generator=\"complete\"}",
    ),
    ("tree", "averaging={scheme=\"tree\", fan_in=3, root=\"3\"}"),
    ("small floats", "averaging.values=f32"),
    (
        "another noise graph",
        "noise_topology={generator=\"random-regular\", degree=6, seed=2}",
    ),
    ("sealed", "dropouts.tolerate=3;dropouts.retries=2"),
    ("open", "dropouts.tolerate=2;dropouts.publish=open"),
    (
        "retries under weights",
        "dropouts.tolerate=1;dropouts.retries=2;privacy.budget=[1,4,1]",
    ),
    (
        "tolerant momentum",
        "dropouts.tolerate=1;dropouts.retries=1;algorithm.kind=momentum;algorithm.momentum=0.2;averaging={scheme=\"tree\"}",
    ),
    (
        "tolerant shares",
        "dropouts.tolerate=2;dropouts.retries=1;algorithm.kind=deflation",
    ),
    (
        "tolerant and local",
        "dropouts.tolerate=2;dropouts.retries=3;noise.scheme=local",
    ),
    (
        "crash",
        "engine.kind=event;dropouts.tolerate=1;dropouts.retries=2;dropouts.publish=open;faults.seed=3;faults.crash=[{peer=\"3\", after=0}]",
    ),
    (
        "crash, sealed",
        "engine.kind=event;dropouts.tolerate=2;dropouts.retries=1;faults.seed=3;faults.crash=[{peer=\"3\", at=\"after-sum\", after=1, restart_micros=2000}]",
    ),
    (
        "losses that lose nobody",
        "engine.kind=event;dropouts.tolerate=1;faults.seed=3;faults.loss=0.1",
    ),
    (
        "random faults",
        "engine.kind=event;dropouts.tolerate=2;dropouts.retries=3;faults.random={crashes=1, outages=1}",
    ),
    (
        "smallest component",
        "topology={generator=\"ring\"};privacy.on_disconnect=smallest-component",
    ),
];

const LISTS: [(&str, &str); 5] = [
    ("all", ""),
    ("items", "data.items_file=ITEMS"),
    ("users", "data.users_file=USERS"),
    ("placed", "data.columns={peer=\"peer\"}"),
    ("sizes", "peers.partition=contiguous;peers.sizes=[3,3,1,1]"),
];

const NUMBERS: [(&str, &str); 23] = [
    ("power", ""),
    ("ring", "noise.scheme=ring"),
    ("laplace", "noise.distribution=laplace;noise.holders=3"),
    ("momentum", "algorithm.kind=momentum;algorithm.momentum=0.1"),
    (
        "isometric",
        "algorithm.kind=isometric-covariance;algorithm.iterations=1",
    ),
    ("replaced", "privacy.adjacency=replace-user"),
    (
        "entries",
        "privacy.adjacency=entry;privacy.sensitivity=exact",
    ),
    (
        "matrices",
        "privacy.adjacency=matrix;privacy.sensitivity=exact",
    ),
    ("promised length", "data.row_limit=1e6"),
    (
        "public mean",
        "data.centre=public;data.means=[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]",
    ),
    ("private mean", "data.centre=private;data.raw_clip=2"),
    (
        "private mean of a share",
        "data.centre=private;data.raw_clip=2;data.mean_share=0.2",
    ),
    (
        "private mean, replaced",
        "data.centre=private;data.raw_clip=2;privacy.adjacency=replace-user;noise.scheme=local",
    ),
    (
        "private mean, ring",
        "data.centre=private;data.raw_clip=2;noise.scheme=ring",
    ),
    (
        "private mean, curator",
        "data.centre=private;data.raw_clip=2;engine.kind=central",
    ),
    (
        "private mean under weights",
        "data.centre=private;data.raw_clip=2;privacy.budget=[3, 2, 1]",
    ),
    (
        "private mean, krylov",
        "data.centre=private;data.raw_clip=2;algorithm.kind=krylov;algorithm.block=5",
    ),
    (
        "histogram",
        "algorithm.kind=clipped-power;algorithm.clip=histogram",
    ),
    (
        "histogram, lag",
        "algorithm.kind=clipped-power;algorithm.clip=histogram;algorithm.clip_lag=true;noise.scheme=local",
    ),
    (
        "histogram, ring",
        "algorithm.kind=clipped-power;algorithm.clip=histogram;noise.scheme=ring",
    ),
    (
        "geometric",
        "algorithm.kind=clipped-power;algorithm.clip=geometric;algorithm.clip_share=0.2;algorithm.clip_quantile=0.9",
    ),
    (
        "sparse vector",
        "algorithm.kind=clipped-power;algorithm.clip=sparse-vector;engine.kind=central",
    ),
    (
        "sparse vector, replaced",
        "algorithm.kind=clipped-power;algorithm.clip=sparse-vector;engine.kind=central;privacy.adjacency=replace-user;privacy.epsilon=1",
    ),
];

const RATINGS: [(&str, &str); 7] = [
    ("power", ""),
    (
        "single ratings",
        "privacy.adjacency=rating;data.row_clip=30",
    ),
    (
        "laplace",
        "noise.distribution=laplace;privacy.delta=0;noise.scheme=local",
    ),
    ("users' own means", "data.centre=user"),
    ("one mean", "data.centre=3.5"),
    ("scaled", "data.scale=[0,1];algorithm.kind=krylov"),
    ("capped", "data.degree_cap=20"),
];

const COMPLETION: [(&str, &str); 17] = [
    (
        "spectral ridge",
        "algorithm={kind=\"spectral-ridge\",rank=4,iterations=2}",
    ),
    (
        "spectral ridge, ring",
        "algorithm={kind=\"spectral-ridge\",rank=4,iterations=2};noise.scheme=ring",
    ),
    (
        "spectral ridge, shares",
        "algorithm={kind=\"spectral-ridge\",rank=4,iterations=2};completion.test_share=0.1;completion.shares=[0.2,0.05,0.75]",
    ),
    (
        "spectral ridge, one release",
        "algorithm={kind=\"spectral-ridge\",rank=4,iterations=1};completion.item_means=false",
    ),
    (
        "spectral ridge, replaced",
        "algorithm={kind=\"spectral-ridge\",rank=4,iterations=2};privacy.adjacency=replace-user",
    ),
    (
        "svd",
        "algorithm={kind=\"svd-completion\",rank=4,iterations=1}",
    ),
    (
        "svd as printed",
        "algorithm={kind=\"svd-completion\",rank=4,iterations=1,mode=\"paper\"}",
    ),
    (
        "svd, laplace",
        "algorithm={kind=\"svd-completion\",rank=4,iterations=1};noise.distribution=laplace;noise.holders=3",
    ),
    (
        "frank-wolfe",
        "algorithm={kind=\"frank-wolfe\",rank=4,iterations=2,nuclear=5}",
    ),
    (
        "frank-wolfe, standard steps",
        "algorithm={kind=\"frank-wolfe\",rank=4,iterations=2,nuclear=5,step=\"standard\"}",
    ),
    (
        "frank-wolfe, ridge",
        "algorithm={kind=\"frank-wolfe\",rank=4,iterations=2,local=\"ridge\"}",
    ),
    (
        "frank-wolfe as printed",
        "algorithm={kind=\"frank-wolfe\",rank=4,iterations=2,nuclear=5,mode=\"paper\"};privacy.calibration=jain-thakkar-thakurta",
    ),
    (
        "frank-wolfe, power",
        "algorithm={kind=\"frank-wolfe\",rank=4,iterations=3,nuclear=5,global=\"power\",inner=4}",
    ),
    (
        "frank-wolfe, oja",
        "algorithm={kind=\"frank-wolfe\",rank=4,iterations=3,nuclear=5,global=\"oja\",inner=4}",
    ),
    (
        "frank-wolfe, oja as printed",
        "algorithm={kind=\"frank-wolfe\",rank=4,iterations=3,nuclear=5,global=\"oja\",oja_step=\"printed\",inner=4};noise.scheme=local",
    ),
    (
        "projected gradient",
        "algorithm={kind=\"projected-gradient\",rank=4,iterations=2,nuclear=5}",
    ),
    (
        "projected gradient, curator",
        "algorithm={kind=\"projected-gradient\",rank=4,iterations=2,nuclear=5,step_size=0.4};engine.kind=central;privacy.adjacency=replace-user",
    ),
];

const GRAPH: [(&str, &str); 11] = [
    ("entries", ""),
    ("edges", "privacy.adjacency=edge;algorithm.rank=3"),
    ("edges, local", "privacy.adjacency=edge;noise.scheme=local"),
    (
        "edges, curator",
        "privacy.adjacency=edge;engine.kind=central",
    ),
    (
        "edges, secure sum",
        "privacy.adjacency=edge;noise.scheme=independent;engine.kind=federated",
    ),
    (
        "edges, no noise",
        "privacy.adjacency=edge;noise.scheme=none",
    ),
    (
        "edges, deflation",
        "privacy.adjacency=edge;algorithm.kind=deflation;algorithm.rank=2;algorithm.eigenvalue_share=0.2",
    ),
    (
        "entries, deflation",
        "algorithm.kind=deflation;algorithm.rank=2",
    ),
    ("ppi", "algorithm.kind=ppi"),
    (
        "ppi, guess",
        "algorithm.kind=ppi;algorithm.scale=fixed;algorithm.coherence=9;privacy.adjacency=edge;privacy.calibration=hardt-roth",
    ),
    ("weights", "privacy.budget=[3, 2, 1]"),
];

const BIPARTITE: [(&str, &str); 5] = [
    ("power", ""),
    ("local", "noise.scheme=local"),
    ("curator", "engine.kind=central"),
    ("ppi", "algorithm.kind=ppi"),
    ("weights", "privacy.budget=[3, 2, 1, 1]"),
];
