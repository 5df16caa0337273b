//! Programs that release one triangle of Σ xxᵀ at a time: what Wishart noise hides.

use super::{Form, Program, ReleaseSpec, Unsupported};
use crate::vocabulary::Quantity;

impl Program {
    /// Whether this program releases triangles of Σ xxᵀ over rows as they are held, or less a private mean before them, and in which coordinates:
    /// `true` for isometric ones.
    ///
    /// # Errors
    /// [`Unsupported`] for a program that releases or uses anything else, two triangles in different coordinates, or a second block beside one.
    #[doc(hidden)]
    pub fn isometric_triangles(&self) -> Result<bool, Unsupported> {
        let mut numbered = self.releases.iter().enumerate();
        if !numbered.all(|(place, release)| is_known(self, place, release)) {
            return Err(refused(self));
        }
        let isometric = |one: &ReleaseSpec| one.blocks[0].quantity == Quantity::IsometricTriangle;
        let mut triangles = self
            .releases
            .iter()
            .skip(usize::from(self.prelude.is_some()));
        let first = triangles.next().map(isometric);
        match first {
            Some(first) if triangles.all(|one| isometric(one) == first) => Ok(first),
            _ => Err(refused(self)),
        }
    }
}

fn refused(program: &Program) -> Unsupported {
    Unsupported::algorithm(
        "noise.distribution = \"wishart\"",
        program,
        "its noise hides one triangle of the matrix at a time, of rows as they are held: set algorithm.kind = \"covariance\" or \
         \"isometric-covariance\" and leave algorithm.precondition out, or set noise.distribution = \"laplace\" or \"gaussian\"",
    )
}

/// Whether the release at this place is the mean before everything else, or one triangle of all rows.
fn is_known(program: &Program, place: usize, release: &ReleaseSpec) -> bool {
    let plain = release.form == Form::Sum
        && release.batch.is_none()
        && release.agreement.is_none()
        && release.ceiling.is_none();
    let mean = program.prelude.is_some() && place == 0;
    let known = match release.blocks.as_slice() {
        [one] => match one.quantity {
            Quantity::PackedTriangle | Quantity::IsometricTriangle => !mean,
            Quantity::RowSum | Quantity::NonnegativeRowSum => mean,
            _ => false,
        },
        _ => false,
    };
    // Rows that an algorithm makes of its own are not those that the bounds are about. A private mean takes a public vector from each and shortens it,
    // and goes with programs about the matrix alone and no others.
    let proved = program.proved;
    let rows = (proved.as_held && proved.matrix_only) || program.prelude.is_some();
    plain && known && rows && program.search.is_none()
}
