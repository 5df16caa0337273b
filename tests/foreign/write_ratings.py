"""Writes the files of `ratings/` with the libraries that people use: eight ratings of four users and five items.

Run in this folder: pip install pandas polars scipy && python write_ratings.py
"""

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse as sp

OUT = Path(__file__).parent / "ratings"

RATINGS = [(196, 242, 3.0), (186, 302, 3.5), (22, 377, 1.0), (244, 51, 2.0), (166, 242, 1.5), (196, 302, 4.0), (22, 51, 5.0), (244, 110, 2.5)]
RATINGS[4] = (186, 242, 1.5)
times = [881250949 + 17 * place for place in range(len(RATINGS))]
frame = pd.DataFrame(RATINGS, columns=["userId", "movieId", "rating"]).assign(timestamp=times)
named = frame.assign(userId=["anna, b.", "bo", "cy", "dee", "bo", "anna, b.", "cy", "dee"])

frame.to_csv(OUT / "pandas.csv", index=False)
frame.to_csv(OUT / "pandas_index.csv")
frame.to_csv(OUT / "pandas.tsv", index=False, sep="\t")
frame.to_csv(OUT / "pandas.csv.gz", index=False)
frame.to_csv(OUT / "excel.csv", index=False, sep=";", encoding="utf-8-sig", lineterminator="\r\n")
frame.to_csv(OUT / "excel_commas.csv", index=False, sep=";", decimal=",")
named.to_csv(OUT / "pandas_names.csv", index=False)
frame[["timestamp", "rating", "movieId", "userId"]].to_csv(OUT / "reordered.csv", index=False)
frame.set_axis(["who", "what", "how", "when"], axis=1).to_csv(OUT / "unknown_names.csv", index=False)
frame[["userId", "movieId"]].to_csv(OUT / "implicit.csv", index=False)
pl.DataFrame(named.to_dict("list")).write_csv(OUT / "polars.csv", quote_style="always")
# As MovieLens' u.data, RecBole's .inter and Book-Crossings lay out their files.
frame.astype({"rating": int}).to_csv(OUT / "u.data", index=False, header=False, sep="\t")
frame.set_axis(["user_id:token", "item_id:token", "rating:float", "timestamp:float"], axis=1).to_csv(OUT / "recbole.inter", index=False, sep="\t")
frame[["userId", "movieId", "rating"]].set_axis(["User-ID", "ISBN", "Book-Rating"], axis=1).to_csv(OUT / "book_crossings.csv", index=False, sep=";", quoting=1)
text = (OUT / "pandas.csv").read_text()
(OUT / "empty_last_line.csv").write_text(text + "\n\n")
(OUT / "cut.csv").write_text(text[:-17])
(OUT / "headings_twice.csv").write_text(text + text)
# As another program leaves them: quoted names of columns behind a byte-order mark, blanks at the end.
(OUT / "quoted.csv").write_bytes(b"\xef\xbb\xbf" + named.to_csv(index=False, quoting=1, lineterminator="\r\n").encode() + b"\r\n")
named.assign(hospital=["ulm", "ulm, west", "ulm", "bonn", "ulm, west", "ulm", "ulm", "bonn"]).to_csv(OUT / "hospitals.csv", index=False)
named.assign(hospital=["ulm", "ulm, west", "ulm", "bonn", "ulm, west", "bonn", "ulm", "bonn"]).to_csv(OUT / "two_hospitals.csv", index=False)
# Users by items, of ids 0 to 3 and 0 to 4; one item and one user more that nobody has rated.
users, items, values = (frame[name].to_numpy() for name in ["userId", "movieId", "rating"])
rows, columns = np.unique(users, return_inverse=True)[1], np.unique(items, return_inverse=True)[1]
matrix = sp.coo_array((values, (rows, columns)), shape=(5, 6))
sp.save_npz(OUT / "scipy_csr.npz", matrix.tocsr())
sp.save_npz(OUT / "scipy_csc.npz", matrix.tocsc().astype(np.float32), compressed=False)
sp.save_npz(OUT / "scipy_coo.npz", matrix)
zero = sp.coo_array((np.append(values, 0.0), (np.append(rows, 3), np.append(columns, 4))), shape=(5, 6))
sp.save_npz(OUT / "scipy_zero.npz", zero)
twice = sp.coo_array((np.append(values, 1.0), (np.append(rows, rows[0]), np.append(columns, columns[0]))), shape=(5, 6))
sp.save_npz(OUT / "scipy_twice.npz", twice)
values = np.where(values == 5.0, np.nan, values)
sp.save_npz(OUT / "scipy_nan.npz", sp.coo_array((values, (rows, columns))))
(OUT / "scipy_cut.npz").write_bytes((OUT / "scipy_csr.npz").read_bytes()[:-30])
np.savez(OUT / "numpy_dense.npz", matrix.toarray())
