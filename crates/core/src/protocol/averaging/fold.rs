//! How a peer combines its value with the messages of a listed step.

/// One step at one peer: `out` = own · value + Σ weight · message, messages in ascending order of their senders.
///
/// # Definition
/// The terms are w · m of every message and own · x, which stands behind the first `own_at` messages. Per coordinate the first
/// term begins the sum and the others are added in exactly this order. An `own` of 0 means that the own value is absent. So a weight of 1 hands a message on with
/// its very bits (1 · m = m, and no 0 · x that could be NaN or turn −0 into 0). Nothing at all gives 0.
///
/// Coordinates never meet, so any cutting into tiles gives the same bits: peers call this on whole blocks, the
/// lockstep engine on tiles.
///
/// # Panics
/// If slices differ in length.
#[inline]
pub fn fold<'a>(
    (own, own_at): (f64, u32),
    value: &[f64],
    messages: impl IntoIterator<Item = (f64, &'a [f64])>,
    out: &mut [f64],
) {
    let shape = "blocks of one shape";
    assert_eq!(value.len(), out.len(), "{shape}");
    let mut messages = messages.into_iter();
    let mut begun = false;
    let mut add = |(weight, x): (f64, &[f64]), out: &mut [f64]| {
        assert_eq!(x.len(), out.len(), "{shape}");
        let pairs = out.iter_mut().zip(x);
        if begun {
            pairs.for_each(|(out, x)| *out += weight * x);
        } else {
            pairs.for_each(|(out, x)| *out = weight * x);
            begun = true;
        }
    };
    if own != 0.0 {
        for message in messages.by_ref().take(own_at as usize) {
            add(message, out);
        }
        add((own, value), out);
    }
    for message in messages {
        add(message, out);
    }
    if !begun {
        out.fill(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_own_value_then_messages_and_an_absent_value_leaves_no_trace() {
        let (big, small) = (1e16, 1.0);
        let mut out = [0.0];
        fold(
            (1.0, 0),
            &[big],
            [(1.0, &[small][..]), (1.0, &[-big])],
            &mut out,
        );
        assert_eq!(out, [(big + small) - big]);
        fold(
            (1.0, 0),
            &[big],
            [(1.0, &[-big][..]), (1.0, &[small])],
            &mut out,
        );
        assert_eq!(out, [1.0]);
        fold((0.0, 0), &[f64::NAN], [(1.0, &[-0.0][..])], &mut out);
        assert_eq!(out[0].to_bits(), (-0.0_f64).to_bits());
        fold((0.0, 0), &[3.0], [], &mut out);
        assert_eq!(out, [0.0]);
        fold((0.5, 0), &[3.0], [(2.0, &[4.0][..])], &mut out);
        assert_eq!(out, [9.5]);
    }

    #[test]
    fn the_own_value_stands_where_it_is_told() {
        let (big, small) = (1e16, 1.0);
        let messages = [[big], [-big]];
        // The small value is lost unless the large ones have cancelled.
        for (own_at, expected) in [(0, 0.0), (1, 0.0), (2, 1.0)] {
            let mut out = [f64::NAN];
            let messages = messages.iter().map(|m| (1.0, m.as_slice()));
            fold((1.0, own_at), &[small], messages, &mut out);
            assert_eq!(out, [expected], "{own_at}");
        }
    }
}
