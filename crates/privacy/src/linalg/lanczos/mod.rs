//! The Lanczos method: leading eigenvectors of a symmetric operator that is only multiplied with.
//!
//! [`lanczos`] is the method: multiply the newest vectors, take what is new in the image into an orthonormal basis of the
//! Krylov space, look at the Ritz pairs now and then, and restart from the best of them where the space is full. What differs
//! is how a [`KrylovSpace`] holds and orthogonalises its vectors, and with that the last bits of the result:
//!
//! - [`centred`]: one vector at a time on the complement of the constant vector, restarted from one Ritz vector. Spectra of
//!   graphs, which decide the coefficients of averaging.
//! - [`columns`]: blocks as wide as the answer, for eigenvalues of any multiplicity; never restarted. Noisy, indefinite sums.
//! - [`rows`]: narrow blocks and thick restarts, in products of matrices. References for tens of thousands of columns.
//!
//! Gauss quadrature needs no eigenvectors, only the coefficients of thousands of recurrences at once:
//! [`super::laplacian::quadrature`].

pub(crate) mod centred;
pub(super) mod columns;
pub(super) mod rows;

/// A symmetric linear map of which only products are known; `V` holds one vector or several.
///
/// Every function from vectors to vectors is one.
pub(crate) trait LinearOperator<V> {
    /// Why a product can be out of reach.
    type Failure;

    /// AX.
    fn apply(&mut self, x: &V) -> Result<V, Self::Failure>;
}

impl<V, E, F: FnMut(&V) -> Result<V, E>> LinearOperator<V> for F {
    type Failure = E;

    fn apply(&mut self, x: &V) -> Result<V, E> {
        self(x)
    }
}

/// An orthonormal basis of a Krylov space of A and what is known of A on it.
trait KrylovSpace {
    /// The newest vectors of the basis.
    type Vectors;
    /// Approximate eigenpairs.
    type Pairs;
    /// Why the space cannot grow.
    type Error;

    /// What A is to be applied to.
    fn newest(&mut self) -> &Self::Vectors;

    /// Takes in the image of [`Self::newest`] and makes the next vectors of what it has outside the space.
    fn extend(&mut self, image: Self::Vectors) -> Result<(), Self::Error>;

    /// The Ritz pairs if it is time for a look and they are good enough, or if the space is full.
    fn look(&mut self) -> Look<Self::Pairs>;

    /// Starts again from the pairs; a space that is never full is never restarted.
    fn restart(&mut self, _pairs: &Self::Pairs) {}
}

/// What a look at the Ritz pairs says.
enum Look<P> {
    /// Nothing: another step.
    Unfinished,
    /// The space is full; the pairs are not good enough.
    Full(P),
    /// The pairs are good enough.
    Converged(P),
}

/// What [`lanczos`] ends with.
pub(super) struct Found<P> {
    /// The last pairs.
    pub(super) pairs: P,
    /// Whether they are good enough.
    pub(super) converged: bool,
    /// Applications of the operator to the newest vectors.
    pub(super) steps: usize,
}

/// Why it ends without.
enum Stopped<F, E> {
    /// A product was out of reach.
    Operator(F),
    /// The space could not grow.
    Space(E),
}

/// How [`lanczos`] ends in the space `S` of the operator `A`.
type Ended<S, A> = Result<
    Found<<S as KrylovSpace>::Pairs>,
    Stopped<<A as LinearOperator<<S as KrylovSpace>::Vectors>>::Failure, <S as KrylovSpace>::Error>,
>;

/// Grows the space until its pairs are good enough, from `cycles` starts (at least one) of which each but the first is a
/// restart from what the one before found; the pairs of the last where none are.
fn lanczos<S: KrylovSpace, A: LinearOperator<S::Vectors>>(
    space: &mut S,
    operator: &mut A,
    cycles: usize,
) -> Ended<S, A> {
    let mut cycle = 1;
    let mut steps = 0;
    loop {
        let image = operator.apply(space.newest()).map_err(Stopped::Operator)?;
        space.extend(image).map_err(Stopped::Space)?;
        steps += 1;
        let (pairs, converged) = match space.look() {
            Look::Unfinished => continue,
            Look::Full(pairs) => (pairs, false),
            Look::Converged(pairs) => (pairs, true),
        };
        if converged || cycle >= cycles {
            return Ok(Found {
                pairs,
                converged,
                steps,
            });
        }
        space.restart(&pairs);
        cycle += 1;
    }
}
