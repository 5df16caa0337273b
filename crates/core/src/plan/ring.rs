//! What a plan of sums mod 2^k must know of an algorithm's releases and of the peers' rows, all of it public.

use crate::algorithm::{Form, ReleaseSpec};
use crate::noise::integer::{LARGEST_DISTANCE, LARGEST_DRAW, LARGEST_SIGMA, SMALLEST_SIGMA};
use crate::privacy::ring::Modulus;
use crate::privacy::{PrivacyError, RingRequest, SensitivitySpec};

/// What is known of the peers before a session starts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    /// Items n.
    pub(crate) dimension: usize,
    /// Number of peers s.
    pub(crate) peers: usize,
    /// The most rows any peer holds: as many as are dealt to it, whatever is in them.
    pub(crate) rows: usize,
}

/// What these releases ask of a ring.
///
/// A contribution is a sum over a peer's rows, each of norm at most 1 and at most
/// [`Sensitivity::largest_per_row`](crate::privacy::Sensitivity::largest_per_row) in any coordinate. How many rows a peer holds follows from
/// the list of users, which is public; under an adjacency of matrices a neighbour may hold more, and is clamped. A member of a session may hold
/// more than it is planned for under every adjacency, and is clamped too (`scenario::deployment` has the proof).
///
/// # Errors
/// [`PrivacyError::Unbounded`] for a release whose coordinates nobody bounds.
pub(crate) fn request(
    releases: &[ReleaseSpec],
    sensitivity: &SensitivitySpec,
    range: Range,
    noise_factors: &[f64],
    modulus: Option<Modulus>,
) -> Result<RingRequest, PrivacyError> {
    let Range {
        dimension,
        peers,
        rows,
    } = range;
    let (mut coordinates, mut draws, mut largest) = (1, 0.0, 0.0_f64);
    let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
    for release in releases.iter().filter(|one| one.form == Form::Sum) {
        coordinates = coordinates.max(release.values());
        draws += release.values() as f64 * peers as f64;
        (least, most) = (least.min(release.share), most.max(release.share));
        for block in &release.blocks {
            let bound = sensitivity.of(block.quantity, block.columns)?;
            // Blocks of a composite release are published in units of Δ_b/√w_b.
            let per_row = bound.largest_per_row(dimension)? * block.weight.sqrt();
            largest = largest.max(rows as f64 * per_row);
        }
    }
    // A release of a smaller share has more noise: at most √(largest share/its share) times as much.
    let shares = if least < most {
        (most / least).sqrt()
    } else {
        1.0
    };
    Ok(RingRequest {
        coordinates,
        largest,
        largest_factor: noise_factors.iter().copied().fold(1.0, f64::max) * shares,
        distance: draws * LARGEST_DISTANCE,
        largest_draw: LARGEST_DRAW,
        supported: (SMALLEST_SIGMA, LARGEST_SIGMA),
        modulus,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::{Adjacency, Rule, SensitivityRule};
    use crate::vocabulary::Quantity;

    const RANGE: Range = Range {
        dimension: 100,
        peers: 7,
        rows: 3,
    };

    #[test]
    fn the_range_is_that_of_the_rows_over_the_least_sensitivity() {
        let spec = SensitivitySpec::new(Adjacency::User, SensitivityRule::Exact, 1, None);
        let releases = ReleaseSpec::products(2, 100, 4);
        let found = request(&releases, &spec, RANGE, &[], None).expect("bounded");
        assert_eq!((found.coordinates, found.largest_factor), (400, 1.0));
        // One user moves a product by at most 1, whatever the query.
        assert!((found.largest - 3.0).abs() < 1e-6, "{}", found.largest);
        let draws = found.distance * 2.0_f64.powi(110);
        assert_eq!(draws, 2.0 * 400.0 * 7.0);
        let uneven = request(&releases, &spec, RANGE, &[0.5, 3.0], None).expect("bounded");
        assert_eq!(uneven.largest_factor, 3.0);
        // One interaction moves a product by D̂ of the query, which is at least √(4/100).
        let spec = SensitivitySpec::new(Adjacency::Interaction, SensitivityRule::Exact, 1, None);
        let found = request(&releases, &spec, RANGE, &[], None).expect("bounded");
        let least = spec.of(Quantity::Product, 4).expect("proved").bound(0.2);
        assert!(
            (found.largest * least - 3.0).abs() < 1e-6,
            "{}",
            found.largest
        );
    }

    #[derive(Debug)]
    struct Undeclared;

    impl Rule for Undeclared {
        const ADJACENCY: Adjacency = Adjacency::User;
        const QUANTITY: Quantity = Quantity::Own("counts");

        fn bound(_: &crate::privacy::Public, _: f64) -> f64 {
            1.0
        }
    }

    #[derive(Debug)]
    struct Declared;

    impl Rule for Declared {
        const ADJACENCY: Adjacency = Adjacency::User;
        const QUANTITY: Quantity = Quantity::Own("counts");

        fn bound(_: &crate::privacy::Public, _: f64) -> f64 {
            2.0
        }

        fn largest_per_row(_: &crate::privacy::Public) -> Option<f64> {
            Some(5.0)
        }
    }

    #[test]
    fn quantities_of_one_s_own_declare_their_range_or_are_refused() {
        let release = ReleaseSpec::sum(1, Quantity::Own("counts"), (10, 1), 1);
        let base = || SensitivitySpec::new(Adjacency::User, SensitivityRule::Exact, 1, None);
        let of = |spec: SensitivitySpec| {
            request(std::slice::from_ref(&release), &spec, RANGE, &[], None)
        };
        let refused = of(base().with_rule::<Undeclared>());
        assert!(
            matches!(refused, Err(PrivacyError::Unbounded { .. })),
            "{refused:?}"
        );
        let found = of(base().with_rule::<Declared>()).expect("declared");
        assert!(
            (found.largest - 3.0 * 5.0 / 2.0).abs() < 1e-6,
            "{}",
            found.largest
        );
    }
}
