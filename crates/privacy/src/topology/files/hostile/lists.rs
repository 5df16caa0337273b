//! Awkward lines of edge lists: what separates, heads and comments them.

use super::*;

pub(super) fn separators() -> Vec<(&'static str, Vec<Case>)> {
    vec![
        (
            "commas",
            vec![
                edges("0,1\n1,2\n", "= 0-1 1-2"),
                edges("0, 1\n1 ,2\n1 , 3", "= 0-1 1-2 1-3"),
                gml(GML.replace("id 0 ", "id 0, "), "! 2: `,`"),
                gml(
                    GML.replace("]\n  edge", "],\n  edge"),
                    "! 4: expected a key",
                ),
                gml(
                    GML.replace("]\n  edge", "]\n  ,edge"),
                    "! 5: expected a key",
                ),
            ],
        ),
        (
            "a separator too many",
            vec![
                edges("0 1,\n1 2\n", "! 1: separat"),
                edges("0,1,\n1,2,\n", "! 1: separat"),
                edges(",0,1\n", "! 1: separat"),
                edges("0,,1\n", "! 1: separat"),
                edges("0 1;\n1 2;\n", "! 1: `;`"),
                edges("0 1\t\n1 2   \n", "= 0-1 1-2"),
            ],
        ),
        (
            "mixed separators",
            vec![
                edges("0 1\n1,2\n", "! 2: separat"),
                edges("0,1\n1 2\n", "! 2: separat"),
                edges("0\t1\n1 2\n", "= 0-1 1-2"),
                edges("a b,c\n", "! 1: separat"),
            ],
        ),
        (
            "other separators",
            vec![
                edges("0;1\n1;2\n", "! 1: `;`"),
                edges("0; 1\n1; 2\n", "! 1: `;`"),
                edges("0| 1\n1| 2\n", "! 1: `|`"),
                edges("0: 1\n1: 2\n", "! 1: `:`"),
                edges("0 ->1\n", "! 1: `>`"),
                edges("0= 1\n", "! 1: `=`"),
                edges("0 -> 1\n", "! 1: `>`"),
            ],
        ),
        (
            "quotes",
            vec![
                edges("\"a\" \"b\"\n", "! 1: `\"`"),
                edges("\"a\",\"b\"\n", "! 1: `\"`"),
                edges("'a' b\n", "! 1: `'`"),
                edges("\"a b\n", "! 1: `\"`"),
                edges("O'Hare b\n", "= O'Hare-b"),
                gml(GML.replace("\"b\" ]", "\"b ]"), "! 4: expected"),
                graphml(XML.replacen("id=\"b\"", "id=\"b", 1), "! "),
            ],
        ),
        (
            "brackets",
            vec![
                edges("[0, 1],\n[1, 2]\n", "! 1: "),
                edges("[0, 1]\n[1, 2]\n", "! 1: `[`"),
                edges("(0,1)\n(1,2)\n", "! 1: `(`"),
                edges("{0 1}\n", "! 1: `{`"),
                gml(GML.replace("graph [", "graph {"), "! "),
            ],
        ),
        (
            "columns of weights",
            vec![
                edges("0 1 2.5\n", "= 0-1"),
                edges("0,1,2.5\n", "= 0-1"),
                edges("0 1 2.5\n1 2\n", "! 2: found 2 fields, and line 1 has 3"),
                edges("0 1 x\n", "! 1: `x` stands behind two ids"),
                edges(
                    "0 1 2 3\n1 0 2 3\n2 0 1 3\n3 0 1 2\n",
                    "! 1: nodes with their neighbours",
                ),
                edges("0 1 2\n1 2 2\n2 0 1\n", "= 0-1 0-2 1-2"),
                edges("0 1 {}\n1 2 {'weight': 2.5, 'tag': '#a'}\n", "= 0-1 1-2"),
                edges("0 1 {\n", "! 1: `{`"),
                graphml(
                    XML.replace(
                        "target=\"b\"/>",
                        "target=\"b\"><data key=\"w\">2</data></edge>",
                    ),
                    "= a-b b-c",
                ),
                gml(
                    GML.replace("target 1 ]", "target 1 weight 2.5 ]"),
                    "= a-b b-c",
                ),
            ],
        ),
        (
            "the same edge twice, an edge to itself",
            vec![
                edges("0 1\n1 0\n", "= 0-1"),
                edges("0 1\n1 0\n1 2\n", "! 2: again, first on line 1"),
                edges("0 1\n0 1\n", "! 2: again, first on line 1"),
                edges("0,1\n1,1\n", "! 2: self-loop"),
                graphml(
                    XML.replace("\"c\"/>\n</", "\"a\"/>\n</"),
                    "! 4: again, first on line 3",
                ),
                gml(
                    GML.replace("source 1 target 2", "source 1 target 1"),
                    "! 6: self-loop",
                ),
            ],
        ),
        (
            "what is said twice",
            vec![
                gml(GML.replace("id 0", "id 0 id 7"), "! 2: second `id`"),
                gml(
                    GML.replace("source 0", "source 0 source 2"),
                    "! 5: second `source`",
                ),
                graphml(
                    XML.replacen("id=\"a\"", "id=\"a\" id=\"z\"", 1),
                    "! 2: not well-formed",
                ),
                recipe(format!("name = \"x\"\n{RECIPE}"), "! 2: duplicate key"),
            ],
        ),
        (
            "text where none belongs",
            vec![
                graphml(format!("{XML}edge"), "! 6: expected"),
                graphml(XML.replacen("<edge", "<Edge", 1), "! 3: expected `edge`"),
                gml(GML.replacen("edge", "Edge", 1), "! 5: expected `edge`"),
                recipe(format!("{RECIPE}edge\n"), "! 6: not a valid recipe"),
            ],
        ),
    ]
}

pub(super) fn headers_and_comments() -> Vec<(&'static str, Vec<Case>)> {
    vec![
        (
            "a header of numbers of nodes and edges",
            vec![
                edges("4 5\n1 2\n2 3\n3 4\n4 1\n1 3\n", "! 1: header"),
                edges("4 4\n0 1\n1 2\n2 3\n3 0\n", "! 1: header"),
                edges("# x\n3,2\n0,1\n1,2\n", "! 2: header"),
                // Every edge in both directions, counted once.
                edges("3 2\n0 1\n1 0\n1 2\n2 1\n", "! 1: header"),
                edges("3 3 2\n0 1\n1 2\n", "! 2: found 2 fields, and line 1 has 3"),
                edges("3\n0 1\n1 2\n", "= 0-1 1-2"),
                edges("3\n0 1\n1 0\n1 2\n2 1\n", "= 0-1 1-2"),
                edges("2\n0 1\n1 2\n", "! 1: 2 is none of these"),
                edges("0 1\n3\n", "! 2: found 1 fields"),
                // An edge that is no such header.
                edges("1 4\n1 2\n2 3\n3 4\n", "= 1-4 1-2 4-3 2-3"),
            ],
        ),
        (
            "a header of words",
            vec![
                edges("source target\n0 1\n1 2\n", "= 0-1 1-2"),
                edges("source target\nsource a\n", "= source-target source-a"),
                edges("source target weight\n0 1 x\n1 2 y\n", "= 0-1 1-2"),
                edges("Source,Target\na,b\nb,c\n", "= a-b b-c"),
                edges("x y\n0 1\n1 2\n", "! 1: names of columns"),
                edges("*Vertices 3\n0 1\n1 2\n", "! 1: `*`"),
                edges("a b\nb 1\n1 2\n", "= a-b b-1 1-2"),
            ],
        ),
        (
            "comments",
            vec![
                edges("# a b\n0 1 # c d\n  # e\n", "= 0-1"),
                edges("% sym unweighted\n0 1\n", "= 0-1"),
                edges("%%MatrixMarket matrix\n0 1\n", "! 1: comment"),
                edges("% asym\n0 1\n", "! 2: has no reverse"),
                edges("% asym\n0 1\n1 0\n", "= 0-1"),
                edges("// x\n0 1\n", "! 1: comment"),
                edges("//x y\n0 1\n", "! 1: comment"),
                graphml(
                    XML.replacen("<edge", "<!-- <edge/> -->\n<edge", 1),
                    "= a-b b-c",
                ),
                gml(GML.replacen("  edge", "# edge [ ]\n  edge", 1), "= a-b b-c"),
                recipe(RECIPE.replace("n = 3", "n = 3 # n = 4"), "= 0-1 1-2"),
            ],
        ),
        (
            "the sign of a comment inside a name",
            vec![
                edges("0 a#1\n0 a#2\n", "! 1: `#`"),
                edges("a#1 b\n", "! 1: `#`"),
                edges("0 1# x\n", "! 1: `#`"),
                edges("0 a%\n", "= 0-a%"),
                graphml(xml_path(&["a#1", "a#2"]), "= a#1-a#2"),
                gml(gml_path(&["a#1", "a#2"]), "= a#1-a#2"),
                gml(GML.replacen("id 1", "id 1#x", 1), "! 3: `#`"),
            ],
        ),
    ]
}
