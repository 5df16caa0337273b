graph [
  DateObtained "16/11/10"
  GeoLocation "Global"
  GeoExtent "Global"
  Network "Deutsche Telekom "
  Provenance "Primary"
  Note "Wholesale services only. DT also sells to general public. IP Transit and IP PoPs only shown on map."
  Source "http://www.deutschetelekom-icss.com/dtag/cms/contentblob/ICSS/en/330364/blobBinary/Interactive-Network-Map-gross-mo.swf"
  Version "1.0"
  Type "COM"
  DateType "Dynamic"
  Backbone 1
  Commercial 0
  label "DeutscheTelekom"
  ToolsetVersion "0.3.34dev-20120328"
  Customer 1
  IX 0
  SourceGitVersion "e278b1b"
  DateModifier "="
  DateMonth "08"
  LastAccess "3/08/10"
  Access 0
  Layer "IP"
  Creator "Topology Zoo Toolset"
  Developed 0
  Transit 1
  NetworkDate "2010_08"
  DateYear "2010"
  LastProcessed "2011_09_01"
  Testbed 0
  node [
    id 0
    label "Zurich"
    Country "Switzerland"
    Longitude 8.55
    Internal 1
    Latitude 47.36667
  ]
  node [
    id 1
    label "Geneva"
    Country "Switzerland"
    Longitude 6.14569
    Internal 1
    Latitude 46.20222
  ]
  node [
    id 2
    label "Budapest"
    Country "Hungary"
    Longitude 19.03991
    Internal 1
    Latitude 47.49801
  ]
  node [
    id 3
    label "Stuttgart"
    Country "Germany"
    Longitude 9.17702
    Internal 1
    Latitude 48.78232
  ]
  node [
    id 4
    label "Madrid"
    Country "Spain"
    Longitude -3.70256
    Internal 1
    Latitude 40.4165
  ]
  node [
    id 5
    label "Lisbon"
    Country "Portugal"
    Longitude -9.13333
    Internal 1
    Latitude 38.71667
  ]
  node [
    id 6
    label "Milan"
    Country "Italy"
    Longitude 9.18951
    Internal 1
    Latitude 45.46427
  ]
  node [
    id 7
    label "Barcelona"
    Country "Spain"
    Longitude 2.15899
    Internal 1
    Latitude 41.38879
  ]
  node [
    id 8
    label "Paris"
    Country "France"
    Longitude 2.3488
    Internal 1
    Latitude 48.85341
  ]
  node [
    id 9
    label "London"
    Country "United Kingdom"
    Longitude -0.12574
    Internal 1
    Latitude 51.50853
  ]
  node [
    id 10
    label "Tokyo"
    Country "Japan"
    Longitude 139.5813
    Internal 1
    Latitude 35.61488
  ]
  node [
    id 11
    label "Chicago"
    Country "United States"
    Longitude -87.65005
    Internal 1
    Latitude 41.85003
  ]
  node [
    id 12
    label "Washington"
    Country "United States"
    Longitude -77.03637
    Internal 1
    Latitude 38.89511
  ]
  node [
    id 13
    label "Miami"
    Country "United States"
    Longitude -80.19366
    Internal 1
    Latitude 25.77427
  ]
  node [
    id 14
    label "Los Angeles"
    Country "United States"
    Longitude -118.24368
    Internal 1
    Latitude 34.05223
  ]
  node [
    id 15
    label "Palo Alto"
    Country "United States"
    Longitude -122.14302
    Internal 1
    Latitude 37.44188
  ]
  node [
    id 16
    label "San Jose"
    Country "Costa Rica"
    Longitude -84.08333
    Internal 1
    Latitude 9.93333
  ]
  node [
    id 17
    label "Hong Kong"
    Country "Hong Kong"
    Longitude 114.15769
    Internal 1
    Latitude 22.28552
  ]
  node [
    id 18
    label "Singapore"
    Country "Singapore"
    Longitude 103.85007
    Internal 1
    Latitude 1.28967
  ]
  node [
    id 19
    label "Toronto"
    Country "Canada"
    Longitude -79.4163
    Internal 1
    Latitude 43.70011
  ]
  node [
    id 20
    label "New York"
    Country "United States"
    Longitude -74.00597
    Internal 1
    Latitude 40.71427
  ]
  node [
    id 21
    label "Frankfurt"
    Country "Germany"
    Longitude 8.68333
    Internal 1
    Latitude 50.11667
  ]
  node [
    id 22
    label "Cologne"
    Country "Germany"
    Longitude 6.95
    Internal 1
    Latitude 50.93333
  ]
  node [
    id 23
    label "Hanover"
    Country "Germany"
    Longitude 9.73322
    Internal 1
    Latitude 52.37052
  ]
  node [
    id 24
    label "Amsterdam"
    Country "Netherlands"
    Longitude 4.88969
    Internal 1
    Latitude 52.37403
  ]
  node [
    id 25
    label "Ashburn"
    Country "United States"
    Longitude -77.48749
    Internal 1
    Latitude 39.04372
  ]
  node [
    id 26
    label "Hamburg"
    Country "Germany"
    Longitude 10.0
    Internal 1
    Latitude 53.55
  ]
  node [
    id 27
    label "Dortmund"
    Country "Germany"
    Longitude 7.45
    Internal 1
    Latitude 51.51667
  ]
  node [
    id 28
    label "Dusseldorf"
    Country "Germany"
    Longitude 6.77616
    Internal 1
    Latitude 51.22172
  ]
  node [
    id 29
    label "Vienna"
    Country "Austria"
    Longitude 16.37208
    Internal 1
    Latitude 48.20849
  ]
  node [
    id 30
    label "Munich"
    Country "Germany"
    Longitude 11.57549
    Internal 1
    Latitude 48.13743
  ]
  node [
    id 31
    label "Copenhagen"
    Country "Denmark"
    Longitude 12.56553
    Internal 1
    Latitude 55.67594
  ]
  node [
    id 32
    label "Stockholm"
    Country "Sweden"
    Longitude 18.0649
    Internal 1
    Latitude 59.33258
  ]
  node [
    id 33
    label "Warsaw"
    Country "Poland"
    Longitude 21.01178
    Internal 1
    Latitude 52.22977
  ]
  node [
    id 34
    label "Moscow"
    Country "Russia"
    Longitude 37.61556
    Internal 1
    Latitude 55.75222
  ]
  node [
    id 35
    label "Berlin"
    Country "Germany"
    Longitude 13.41053
    Internal 1
    Latitude 52.52437
  ]
  node [
    id 36
    label "Leipzig"
    Country "Germany"
    Longitude 12.37129
    Internal 1
    Latitude 51.33962
  ]
  node [
    id 37
    label "Prague"
    Country "Czech Republic"
    Longitude 14.42076
    Internal 1
    Latitude 50.08804
  ]
  node [
    id 38
    label "Nuremberg"
    Country "Germany"
    Longitude 11.06833
    Internal 1
    Latitude 49.44778
  ]
  edge [
    source 0
    target 8
    id "e14"
  ]
  edge [
    source 0
    target 1
    id "e15"
  ]
  edge [
    source 0
    target 3
    id "e13"
  ]
  edge [
    source 0
    target 6
    id "e16"
  ]
  edge [
    source 0
    target 7
    id "e17"
  ]
  edge [
    source 1
    target 8
    id "e18"
  ]
  edge [
    source 1
    target 6
    id "e19"
  ]
  edge [
    source 2
    target 29
    id "e11"
  ]
  edge [
    source 2
    target 30
    id "e12"
  ]
  edge [
    source 4
    target 8
    id "e23"
  ]
  edge [
    source 4
    target 5
    id "e22"
  ]
  edge [
    source 4
    target 7
    id "e21"
  ]
  edge [
    source 6
    target 8
    id "e20"
  ]
  edge [
    source 8
    target 9
    id "e24"
  ]
  edge [
    source 8
    target 21
    id "e26"
  ]
  edge [
    source 8
    target 24
    id "e25"
  ]
  edge [
    source 8
    target 25
    id "e27"
  ]
  edge [
    source 9
    target 20
    id "e32"
  ]
  edge [
    source 9
    target 21
    id "e29"
  ]
  edge [
    source 9
    target 24
    id "e28"
  ]
  edge [
    source 9
    target 25
    id "e31"
  ]
  edge [
    source 9
    target 28
    id "e30"
  ]
  edge [
    source 10
    target 16
    id "e59"
  ]
  edge [
    source 10
    target 17
    id "e61"
  ]
  edge [
    source 11
    target 19
    id "e50"
  ]
  edge [
    source 11
    target 20
    id "e48"
  ]
  edge [
    source 11
    target 15
    id "e51"
  ]
  edge [
    source 12
    target 25
    id "e44"
  ]
  edge [
    source 12
    target 20
    id "e49"
  ]
  edge [
    source 12
    target 13
    id "e52"
  ]
  edge [
    source 12
    target 14
    id "e53"
  ]
  edge [
    source 14
    target 16
    id "e55"
  ]
  edge [
    source 14
    target 17
    id "e56"
  ]
  edge [
    source 14
    target 18
    id "e57"
  ]
  edge [
    source 14
    target 15
    id "e54"
  ]
  edge [
    source 15
    target 16
    id "e58"
  ]
  edge [
    source 15
    target 25
    id "e43"
  ]
  edge [
    source 15
    target 20
    id "e45"
  ]
  edge [
    source 16
    target 20
    id "e46"
  ]
  edge [
    source 17
    target 18
    id "e60"
  ]
  edge [
    source 18
    target 21
    id "e38"
  ]
  edge [
    source 19
    target 20
    id "e47"
  ]
  edge [
    source 20
    target 36
    id "e7"
  ]
  edge [
    source 20
    target 21
    id "e40"
  ]
  edge [
    source 20
    target 23
    id "e37"
  ]
  edge [
    source 20
    target 28
    id "e42"
  ]
  edge [
    source 21
    target 34
    id "e5"
  ]
  edge [
    source 21
    target 24
    id "e35"
  ]
  edge [
    source 21
    target 25
    id "e39"
  ]
  edge [
    source 23
    target 25
    id "e36"
  ]
  edge [
    source 24
    target 26
    id "e34"
  ]
  edge [
    source 24
    target 28
    id "e33"
  ]
  edge [
    source 25
    target 36
    id "e6"
  ]
  edge [
    source 25
    target 28
    id "e41"
  ]
  edge [
    source 26
    target 32
    id "e2"
  ]
  edge [
    source 26
    target 31
    id "e1"
  ]
  edge [
    source 29
    target 37
    id "e8"
  ]
  edge [
    source 29
    target 30
    id "e10"
  ]
  edge [
    source 31
    target 32
    id "e0"
  ]
  edge [
    source 33
    target 35
    id "e3"
  ]
  edge [
    source 33
    target 38
    id "e4"
  ]
  edge [
    source 37
    target 38
    id "e9"
  ]
]
