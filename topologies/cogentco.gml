graph [
  DateObtained "19/10/10"
  GeoLocation "USA, Europe"
  GeoExtent "Country+"
  Network "Cogent "
  Provenance "Primary"
  Note "Contains Aleron"
  Source "http://www.cogentco.com/us/network_map.php"
  Version "1.0"
  DateType "Current"
  Type "COM"
  Backbone 1
  Commercial 0
  label "Cogentco"
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
  Developed 1
  Transit 1
  NetworkDate "2010_08"
  DateYear "2010"
  LastProcessed "2011_09_01"
  Testbed 0
  node [
    id 0
    label "Timisoara"
    Country "Romania"
    Longitude 21.22722
    Internal 1
    Latitude 45.74944
    type "On-Net and Off-Net Market"
  ]
  node [
    id 1
    label "Bucharest"
    Country "Romania"
    Longitude 26.10626
    Internal 1
    Latitude 44.43225
    type "On-Net and Off-Net Market"
  ]
  node [
    id 2
    label "Mainz-Wiesbaden"
    Country "Germany"
    Longitude 8.27111
    Internal 1
    Latitude 50.0
    type "On-Net and Off-Net Market"
  ]
  node [
    id 3
    label "Mannheim"
    Country "Germany"
    Longitude 8.46472
    Internal 1
    Latitude 49.48833
    type "On-Net and Off-Net Market"
  ]
  node [
    id 4
    label "Stuttgart"
    Country "Germany"
    Longitude 9.17702
    Internal 1
    Latitude 48.78232
    type "On-Net and Off-Net Market"
  ]
  node [
    id 5
    label "Nuremberg"
    Country "Germany"
    Longitude 11.06833
    Internal 1
    Latitude 49.44778
    type "On-Net and Off-Net Market"
  ]
  node [
    id 6
    label "Munich"
    Country "Germany"
    Longitude 11.57549
    Internal 1
    Latitude 48.13743
    type "On-Net and Off-Net Market"
  ]
  node [
    id 7
    label "Vienna"
    Country "Austria"
    Longitude 16.37208
    Internal 1
    Latitude 48.20849
    type "On-Net and Off-Net Market"
  ]
  node [
    id 8
    label "Bratislava"
    Country "Slovakia"
    Longitude 17.10674
    Internal 1
    Latitude 48.14816
    type "On-Net and Off-Net Market"
  ]
  node [
    id 9
    label "Budapest"
    Country "Hungary"
    Longitude 19.03991
    Internal 1
    Latitude 47.49801
    type "On-Net and Off-Net Market"
  ]
  node [
    id 10
    label "Milwaukee"
    Country "United States"
    Longitude -87.90647
    Internal 1
    Latitude 43.0389
    type "On-Net and Off-Net Market with Cogent Data Center(s)"
  ]
  node [
    id 11
    label "Minneapolis"
    Country "United States"
    Longitude -93.26384
    Internal 1
    Latitude 44.97997
    type "On-Net and Off-Net Market"
  ]
  node [
    id 12
    label "South Bend"
    Country "United States"
    Longitude -86.25001
    Internal 1
    Latitude 41.68338
    type "On-Net and Off-Net Market"
  ]
  node [
    id 13
    label "Chicago"
    Country "United States"
    Longitude -87.65005
    Internal 1
    Latitude 41.85003
    type "On-Net and Off-Net Market with Cogent Data Center(s)"
  ]
  node [
    id 14
    label "Kansas City"
    Country "United States"
    Longitude -94.62746
    Internal 1
    Latitude 39.11417
    type "On-Net and Off-Net Market"
  ]
  node [
    id 15
    label "St Louis"
    Country "United States"
    Longitude -90.19789
    Internal 1
    Latitude 38.62727
    type "On-Net and Off-Net Market"
  ]
  node [
    id 16
    label "Des Moines"
    Country "United States"
    Longitude -93.60911
    Internal 1
    Latitude 41.60054
    type "On-Net and Off-Net Market"
  ]
  node [
    id 17
    label "Omaha"
    Country "United States"
    Longitude -95.93779
    Internal 1
    Latitude 41.25861
    type "On-Net and Off-Net Market"
  ]
  node [
    id 18
    label "Louisville"
    Country "United States"
    Longitude -85.75941
    Internal 1
    Latitude 38.25424
    type "On-Net and Off-Net Market"
  ]
  node [
    id 19
    label "Nashville"
    Country "United States"
    Longitude -86.78444
    Internal 1
    Latitude 36.16589
    type "On-Net and Off-Net Market"
  ]
  node [
    id 20
    label "Gijon"
    Country "Spain"
    Longitude -5.66444
    Internal 1
    Latitude 43.54111
    type "On-Net and Off-Net Market"
  ]
  node [
    id 21
    label "Santander"
    Country "Spain"
    Longitude -3.80444
    Internal 1
    Latitude 43.46472
    type "On-Net and Off-Net Market"
  ]
  node [
    id 22
    label "Vigo"
    Country "Spain"
    Longitude -8.71667
    Internal 1
    Latitude 42.23333
    type "On-Net and Off-Net Market"
  ]
  node [
    id 23
    label "Leon"
    Country "Spain"
    Longitude -5.56667
    Internal 1
    Latitude 42.6
    type "On-Net and Off-Net Market"
  ]
  node [
    id 24
    label "Zaragoza"
    Country "Spain"
    Longitude -0.87734
    Internal 1
    Latitude 41.65606
    type "On-Net and Off-Net Market"
  ]
  node [
    id 25
    label "Barcelona"
    Country "Spain"
    Longitude 2.15899
    Internal 1
    Latitude 41.38879
    type "On-Net and Off-Net Market"
  ]
  node [
    id 26
    label "Bilbao"
    Country "Spain"
    Longitude -2.92528
    Internal 1
    Latitude 43.26271
    type "On-Net and Off-Net Market"
  ]
  node [
    id 27
    label "Logrono"
    Country "Spain"
    Longitude -2.45
    Internal 1
    Latitude 42.46667
    type "On-Net and Off-Net Market"
  ]
  node [
    id 28
    label "Avila"
    Country "Spain"
    Longitude -4.7
    Internal 1
    Latitude 40.65
    type "On-Net and Off-Net Market"
  ]
  node [
    id 29
    label "San Sebastian"
    Country "Spain"
    Longitude -1.97499
    Internal 1
    Latitude 43.31283
    type "On-Net and Off-Net Market"
  ]
  node [
    id 30
    label "Indianapolis"
    Country "United States"
    Longitude -86.15804
    Internal 1
    Latitude 39.76838
    type "On-Net and Off-Net Market"
  ]
  node [
    id 31
    label "Cincinnati"
    Country "United States"
    Longitude -84.45689
    Internal 1
    Latitude 39.162
    type "Off-Net Market"
  ]
  node [
    id 32
    label "Toledo"
    geocode_append "US"
    Country "United States"
    Longitude -83.55521
    Internal 1
    Latitude 41.66394
    type "On-Net and Off-Net Market"
  ]
  node [
    id 33
    label "Detroit"
    Country "United States"
    Longitude -83.04575
    Internal 1
    Latitude 42.33143
    type "On-Net and Off-Net Market"
  ]
  node [
    id 34
    label "Dayton"
    Country "United States"
    Longitude -84.19161
    Internal 1
    Latitude 39.75895
    type "Off-Net Market"
  ]
  node [
    id 35
    label "Columbus"
    Country "United States"
    Longitude -82.99879
    Internal 1
    Latitude 39.96118
    type "On-Net and Off-Net Market with Cogent Data Center(s)"
  ]
  node [
    id 36
    label "Hamilton"
    Country "United States"
    Longitude -84.56134
    Internal 1
    Latitude 39.3995
    type "On-Net and Off-Net Market"
  ]
  node [
    id 37
    label "Cleveland"
    Country "United States"
    Longitude -81.69541
    Internal 1
    Latitude 41.4995
    type "On-Net and Off-Net Market"
  ]
  node [
    id 38
    label "Buffalo"
    Country "United States"
    Longitude -78.87837
    Internal 1
    Latitude 42.88645
    type "On-Net and Off-Net Market"
  ]
  node [
    id 39
    label "Toronto"
    Country "United States"
    Longitude -80.60091
    Internal 1
    Latitude 40.46423
    type "On-Net and Off-Net Market"
  ]
  node [
    id 40
    label "Oslo"
    Country "Norway"
    Longitude 10.74609
    Internal 1
    Latitude 59.91273
    type "On-Net and Off-Net Market"
  ]
  node [
    id 41
    label "Stockholm"
    Country "Sweden"
    Longitude 18.0649
    Internal 1
    Latitude 59.33258
    type "On-Net and Off-Net Market"
  ]
  node [
    id 42
    label "Copenhagen"
    Country "Denmark"
    Longitude 12.56553
    Internal 1
    Latitude 55.67594
    type "On-Net and Off-Net Market"
  ]
  node [
    id 43
    label "Malmo"
    Country "Sweden"
    Longitude 13.00073
    Internal 1
    Latitude 55.60587
    type "On-Net and Off-Net Market"
  ]
  node [
    id 44
    label "Newcastle"
    Country "United Kingdom"
    Longitude -1.61396
    Internal 1
    Latitude 54.97328
    type "On-Net and Off-Net Market"
  ]
  node [
    id 45
    label "Leeds"
    Country "United Kingdom"
    Longitude -1.54785
    Internal 1
    Latitude 53.79648
    type "On-Net and Off-Net Market"
  ]
  node [
    id 46
    label "Glasgow"
    Country "United Kingdom"
    Longitude -4.25763
    Internal 1
    Latitude 55.86515
    type "On-Net and Off-Net Market"
  ]
  node [
    id 47
    label "Edinburgh"
    Country "United Kingdom"
    Longitude -3.2
    Internal 1
    Latitude 55.95
    type "On-Net and Off-Net Market"
  ]
  node [
    id 48
    label "Liverpool Southport"
    Country "United Kingdom"
    Longitude -2.97794
    Internal 1
    Latitude 53.41058
    type "On-Net and Off-Net Market"
  ]
  node [
    id 49
    label "Manchester"
    Country "United Kingdom"
    Longitude -2.23743
    Internal 1
    Latitude 53.48095
    type "On-Net and Off-Net Market"
  ]
  node [
    id 50
    label "Lisbon"
    Country "Portugal"
    Longitude -9.13333
    Internal 1
    Latitude 38.71667
    type "On-Net and Off-Net Market"
  ]
  node [
    id 51
    label "Coimbra"
    Country "Portugal"
    Longitude -8.41667
    Internal 1
    Latitude 40.2
    type "On-Net and Off-Net Market"
  ]
  node [
    id 52
    label "Alicante"
    Country "Spain"
    Longitude -0.48149
    Internal 1
    Latitude 38.34517
    type "On-Net and Off-Net Market"
  ]
  node [
    id 53
    label "Murcia"
    Country "Spain"
    Longitude -1.11667
    Internal 1
    Latitude 37.98333
    type "On-Net and Off-Net Market"
  ]
  node [
    id 54
    label "Madrid"
    Country "Spain"
    Longitude -3.70256
    Internal 1
    Latitude 40.4165
    type "On-Net and Off-Net Market"
  ]
  node [
    id 55
    label "Valencia"
    Country "Spain"
    Longitude -0.37739
    Internal 1
    Latitude 39.46975
    type "On-Net and Off-Net Market"
  ]
  node [
    id 56
    label "Sevilla"
    Country "Spain"
    Longitude -5.98694
    Internal 1
    Latitude 37.37722
    type "On-Net and Off-Net Market"
  ]
  node [
    id 57
    label "Badajoz"
    Country "Spain"
    Longitude -6.96667
    Internal 1
    Latitude 38.88333
    type "On-Net and Off-Net Market"
  ]
  node [
    id 58
    label "Granada"
    Country "Spain"
    Longitude -3.60667
    Internal 1
    Latitude 37.18817
    type "On-Net and Off-Net Market"
  ]
  node [
    id 59
    label "Malaga"
    Country "Spain"
    Longitude -4.42034
    Internal 1
    Latitude 36.72016
    type "On-Net and Off-Net Market"
  ]
  node [
    id 60
    label "Austin"
    Country "United States"
    Longitude -97.74306
    Internal 1
    Latitude 30.26715
    type "On-Net and Off-Net Market"
  ]
  node [
    id 61
    label "San Antonio"
    Country "United States"
    Longitude -98.49363
    Internal 1
    Latitude 29.42412
    type "On-Net and Off-Net Market"
  ]
  node [
    id 62
    label "New Orleans"
    Country "United States"
    Longitude -90.07507
    Internal 1
    Latitude 29.95465
    type "On-Net and Off-Net Market with Cogent Data Center(s)"
  ]
  node [
    id 63
    label "Jackson"
    Country "United States"
    Longitude -90.18481
    Internal 1
    Latitude 32.29876
    type "On-Net and Off-Net Market"
  ]
  node [
    id 64
    label "Tulsa"
    Country "United States"
    Longitude -95.99278
    Internal 1
    Latitude 36.15398
    type "On-Net and Off-Net Market"
  ]
  node [
    id 65
    label "Oklahoma City"
    Country "United States"
    Longitude -97.51643
    Internal 1
    Latitude 35.46756
    type "On-Net and Off-Net Market"
  ]
  node [
    id 66
    label "Fort Worth"
    Country "United States"
    Longitude -97.32085
    Internal 1
    Latitude 32.72541
    type "On-Net and Off-Net Market"
  ]
  node [
    id 67
    label "Dallas"
    Country "United States"
    Longitude -96.80667
    Internal 1
    Latitude 32.78306
    type "On-Net and Off-Net Market with Cogent Data Center(s)"
  ]
  node [
    id 68
    label "Memphis"
    Country "United States"
    Longitude -90.04898
    Internal 1
    Latitude 35.14953
    type "On-Net and Off-Net Market"
  ]
  node [
    id 69
    label "Houston"
    Country "United States"
    Longitude -95.36327
    Internal 1
    Latitude 29.76328
    type "On-Net and Off-Net Market with Cogent Data Center(s)"
  ]
  node [
    id 70
    label "Tours"
    Country "France"
    Longitude 0.68333
    Internal 1
    Latitude 47.38333
    type "On-Net and Off-Net Market with Cogent Data Center(s)"
  ]
  node [
    id 71
    label "Nantes"
    Country "France"
    Longitude -1.55336
    Internal 1
    Latitude 47.21725
    type "On-Net and Off-Net Market with Cogent Data Center(s)"
  ]
  node [
    id 72
    label "Rennes"
    Country "France"
    Longitude -1.68333
    Internal 1
    Latitude 48.08333
    type "On-Net and Off-Net Market with Cogent Data Center(s)"
  ]
  node [
    id 73
    label "Caen"
    Country "France"
    Longitude -0.35912
    Internal 1
    Latitude 49.18585
    type "On-Net and Off-Net Market"
  ]
  node [
    id 74
    label "Rouen"
    Country "France"
    Longitude 1.09932
    Internal 1
    Latitude 49.44313
    type "On-Net and Off-Net Market with Cogent Data Center(s)"
  ]
  node [
    id 75
    label "Reims"
    Country "France"
    Longitude 4.03333
    Internal 1
    Latitude 49.25
    type "On-Net and Off-Net Market"
  ]
  node [
    id 76
    label "Luxembourg"
    Country "Luxembourg"
    Longitude 6.13
    Internal 1
    Latitude 49.61167
    type "On-Net and Off-Net Market"
  ]
  node [
    id 77
    label "Frankfurt"
    Country "Germany"
    Longitude 8.68333
    Internal 1
    Latitude 50.11667
    type "On-Net and Off-Net Market with Cogent Data Center(s)"
  ]
  node [
    id 78
    label "Bordeaux"
    Country "France"
    Longitude -0.56667
    Internal 1
    Latitude 44.83333
    type "On-Net and Off-Net Market with Cogent Data Center(s)"
  ]
  node [
    id 79
    label "Poiters"
    Country "France"
    Longitude 0.33333
    Internal 1
    Latitude 46.58333
    type "On-Net and Off-Net Market with Cogent Data Center(s)"
  ]
  node [
    id 80
    label "Miami"
    Country "United States"
    Longitude -80.19366
    Internal 1
    Latitude 25.77427
    type "On-Net and Off-Net Market with Cogent Data Center(s)"
  ]
  node [
    id 81
    label "Boca Raton"
    Country "United States"
    Longitude -80.0831
    Internal 1
    Latitude 26.35869
    type "On-Net and Off-Net Market with Cogent Data Center(s)"
  ]
  node [
    id 82
    label "Atlanta"
    Country "United States"
    Longitude -84.38798
    Internal 1
    Latitude 33.749
    type "On-Net and Off-Net Market with Cogent Data Center(s)"
  ]
  node [
    id 83
    label "Charlotte"
    Country "United States"
    Longitude -80.84313
    Internal 1
    Latitude 35.22709
    type "On-Net and Off-Net Market"
  ]
  node [
    id 84
    label "Greensboro"
    Country "United States"
    Longitude -79.79198
    Internal 1
    Latitude 36.07264
    type "On-Net and Off-Net Market"
  ]
  node [
    id 85
    label "Raleigh"
    Country "United States"
    Longitude -78.63861
    Internal 1
    Latitude 35.7721
    type "On-Net and Off-Net Market"
  ]
  node [
    id 86
    label "Tampa"
    Country "United States"
    Longitude -82.45843
    Internal 1
    Latitude 27.94752
    type "On-Net and Off-Net Market"
  ]
  node [
    id 87
    label "Orlando"
    Country "United States"
    Longitude -81.37924
    Internal 1
    Latitude 28.53834
    type "On-Net and Off-Net Market"
  ]
  node [
    id 88
    label "Jacksonville"
    Country "United States"
    Longitude -81.65565
    Internal 1
    Latitude 30.33218
    type "On-Net and Off-Net Market"
  ]
  node [
    id 89
    label "Birmingham"
    geocode_append "US"
    Country "United States"
    Longitude -86.80249
    Internal 1
    Latitude 33.52066
    type "On-Net and Off-Net Market"
  ]
  node [
    id 90
    label "Nice"
    Country "France"
    Longitude 7.26608
    Internal 1
    Latitude 43.70313
    type "On-Net and Off-Net Market with Cogent Data Center(s)"
  ]
  node [
    id 91
    label "Grenoble"
    Country "France"
    Longitude 5.71667
    Internal 1
    Latitude 45.16667
    type "On-Net and Off-Net Market with Cogent Data Center(s)"
  ]
  node [
    id 92
    label "Lyon"
    Country "France"
    Longitude 4.85
    Internal 1
    Latitude 45.75
    type "On-Net and Off-Net Market"
  ]
  node [
    id 93
    label "Dijon"
    Country "France"
    Longitude 5.01667
    Internal 1
    Latitude 47.31667
    type "On-Net and Off-Net Market with Cogent Data Center(s)"
  ]
  node [
    id 94
    label "Toulouse"
    Country "France"
    Longitude 1.44367
    Internal 1
    Latitude 43.60426
    type "On-Net and Off-Net Market with Cogent Data Center(s)"
  ]
  node [
    id 95
    label "Montpellier"
    geocode_append "France"
    Country "France"
    Longitude 3.88333
    Internal 1
    Latitude 43.6
    type "On-Net and Off-Net Market with Cogent Data Center(s)"
  ]
  node [
    id 96
    label "Marseille"
    Country "France"
    Longitude 5.4
    Internal 1
    Latitude 43.3
    type "On-Net and Off-Net Market"
  ]
  node [
    id 97
    label "Sophia"
    Country "Bulgaria"
    Longitude 23.32415
    Internal 1
    Latitude 42.69751
    type "On-Net and Off-Net Market with Cogent Data Center(s)"
  ]
  node [
    id 98
    label "Prague"
    Country "Czech Republic"
    Longitude 14.42076
    Internal 1
    Latitude 50.08804
    type "On-Net and Off-Net Market"
  ]
  node [
    id 99
    label "Geneva"
    Country "Switzerland"
    Longitude 6.14569
    Internal 1
    Latitude 46.20222
    type "On-Net and Off-Net Market"
  ]
  node [
    id 100
    label "Bern"
    Country "Switzerland"
    Longitude 7.44744
    Internal 1
    Latitude 46.94809
    type "On-Net and Off-Net Market"
  ]
  node [
    id 101
    label "Los Angeles"
    Country "United States"
    Longitude -118.24368
    Internal 1
    Latitude 34.05223
    type "On-Net and Off-Net Market with Cogent Data Center(s)"
  ]
  node [
    id 102
    label "Orange County"
    Country "United States"
    Longitude -117.85311
    Internal 1
    Latitude 33.78779
    type "On-Net and Off-Net Market with Cogent Data Center(s)"
  ]
  node [
    id 103
    label "San Francisco"
    Country "United States"
    Longitude -122.41942
    Internal 1
    Latitude 37.77493
    type "On-Net and Off-Net Market"
  ]
  node [
    id 104
    label "Santa Clara"
    Country "United States"
    Longitude -121.95524
    Internal 1
    Latitude 37.35411
    type "On-Net and Off-Net Market"
  ]
  node [
    id 105
    label "Sacramento"
    Country "United States"
    Longitude -121.4944
    Internal 1
    Latitude 38.58157
    type "On-Net and Off-Net Market"
  ]
  node [
    id 106
    label "Oakland"
    Country "United States"
    Longitude -122.2708
    Internal 1
    Latitude 37.80437
    type "On-Net and Off-Net Market with Cogent Data Center(s)"
  ]
  node [
    id 107
    label "Salt Lake City"
    Country "United States"
    Longitude -111.89105
    Internal 1
    Latitude 40.76078
    type "On-Net and Off-Net Market"
  ]
  node [
    id 108
    label "Boise"
    Country "United States"
    Longitude -116.20345
    Internal 1
    Latitude 43.6135
    type "On-Net and Off-Net Market"
  ]
  node [
    id 109
    label "San Diego"
    Country "United States"
    Longitude -117.15726
    Internal 1
    Latitude 32.71533
    type "On-Net and Off-Net Market"
  ]
  node [
    id 110
    label "Phoenix"
    Country "United States"
    Longitude -112.07404
    Internal 1
    Latitude 33.44838
    type "On-Net and Off-Net Market"
  ]
  node [
    id 111
    label "Arezzo"
    Country "Italy"
    Longitude 11.87691
    Internal 1
    Latitude 43.46139
    type "On-Net and Off-Net Market"
  ]
  node [
    id 112
    label "Rome"
    Country "Italy"
    Longitude 12.4839
    Internal 1
    Latitude 41.89474
    type "On-Net and Off-Net Market"
  ]
  node [
    id 113
    label "Odessa"
    Country "Ukraine"
    Longitude 30.73262
    Internal 1
    Latitude 46.47747
    type "On-Net and Off-Net Market"
  ]
  node [
    id 114
    label "Galati"
    Country "Romania"
    Longitude 28.05
    Internal 1
    Latitude 45.45
    type "On-Net and Off-Net Market"
  ]
  node [
    id 115
    label "Balchik"
    Country "Bulgaria"
    Longitude 28.16667
    Internal 1
    Latitude 43.41667
    type "On-Net and Off-Net Market"
  ]
  node [
    id 116
    label "Constanta"
    Country "Romania"
    Longitude 28.65
    Internal 1
    Latitude 44.18333
    type "On-Net and Off-Net Market"
  ]
  node [
    id 117
    label "Burgas"
    Country "Bulgaria"
    Longitude 27.46781
    Internal 1
    Latitude 42.50606
    type "On-Net and Off-Net Market"
  ]
  node [
    id 118
    label "Varna"
    Country "Bulgaria"
    Longitude 27.91667
    Internal 1
    Latitude 43.21667
    type "On-Net and Off-Net Market"
  ]
  node [
    id 119
    label "Sofia"
    Country "Bulgaria"
    Longitude 23.32415
    Internal 1
    Latitude 42.69751
    type "On-Net and Off-Net Market"
  ]
  node [
    id 120
    label "Kapitan Andreevo"
    Country "Bulgaria"
    Longitude 26.31667
    Internal 1
    Latitude 41.71667
    type "On-Net and Off-Net Market"
  ]
  node [
    id 121
    label "McAllen"
    Country "United States"
    Longitude -98.23001
    Internal 1
    Latitude 26.20341
    type "On-Net and Off-Net Market"
  ]
  node [
    id 122
    label "Laredo"
    Country "United States"
    Longitude -99.50754
    Internal 1
    Latitude 27.50641
    type "On-Net and Off-Net Market"
  ]
  node [
    id 123
    label "Queretaro"
    Country "Mexico"
    Longitude -100.38333
    Internal 1
    Latitude 20.6
    type "On-Net and Off-Net Market"
  ]
  node [
    id 124
    label "Monterrey"
    Country "Mexico"
    Longitude -100.31667
    Internal 1
    Latitude 25.66667
    type "On-Net and Off-Net Market"
  ]
  node [
    id 125
    label "Mexico City"
    Country "Mexico"
    Longitude -99.12766
    Internal 1
    Latitude 19.42847
    type "On-Net and Off-Net Market"
  ]
  node [
    id 126
    label "Guadalajara"
    Country "Mexico"
    Longitude -103.33333
    Internal 1
    Latitude 20.66667
    type "On-Net and Off-Net Market"
  ]
  node [
    id 127
    label "Albuquerque"
    Country "United States"
    Longitude -106.65114
    Internal 1
    Latitude 35.08449
    type "On-Net and Off-Net Market"
  ]
  node [
    id 128
    label "El Paso"
    Country "United States"
    Longitude -106.48693
    Internal 1
    Latitude 31.75872
    type "On-Net and Off-Net Market"
  ]
  node [
    id 129
    label "Denver"
    Country "United States"
    Longitude -104.9847
    Internal 1
    Latitude 39.73915
    type "On-Net and Off-Net Market"
  ]
  node [
    id 130
    label "Colorado Springs"
    Country "United States"
    Longitude -104.82136
    Internal 1
    Latitude 38.83388
    type "On-Net and Off-Net Market"
  ]
  node [
    id 131
    label "Dresden"
    Country "Germany"
    Longitude 13.73832
    Internal 1
    Latitude 51.05089
    type "On-Net and Off-Net Market"
  ]
  node [
    id 132
    label "Basel"
    Country "Switzerland"
    Longitude 7.6
    Internal 1
    Latitude 47.56667
    type "On-Net and Off-Net Market"
  ]
  node [
    id 133
    label "Strasbourg"
    Country "France"
    Longitude 7.75
    Internal 1
    Latitude 48.58333
    type "On-Net and Off-Net Market with Cogent Data Center(s)"
  ]
  node [
    id 134
    label "Milan"
    Country "Italy"
    Longitude 9.18951
    Internal 1
    Latitude 45.46427
    type "On-Net and Off-Net Market"
  ]
  node [
    id 135
    label "Zurich"
    Country "Switzerland"
    Longitude 8.55
    Internal 1
    Latitude 47.36667
    type "On-Net and Off-Net Market"
  ]
  node [
    id 136
    label "Zagreb"
    Country "Croatia"
    Longitude 15.97798
    Internal 1
    Latitude 45.81444
    type "On-Net and Off-Net Market"
  ]
  node [
    id 137
    label "Genoa"
    Country "Italy"
    Longitude 8.93386
    Internal 1
    Latitude 44.40632
    type "On-Net and Off-Net Market"
  ]
  node [
    id 138
    label "Padua-Venice"
    Country "Italy"
    Longitude 12.32667
    Internal 1
    Latitude 45.43861
    type "On-Net and Off-Net Market"
  ]
  node [
    id 139
    label "Ljubljana"
    Country "Slovenia"
    Longitude 14.50513
    Internal 1
    Latitude 46.05108
    type "On-Net and Off-Net Market"
  ]
  node [
    id 140
    label "Florence"
    Country "Italy"
    Longitude 11.25
    Internal 1
    Latitude 43.76667
    type "On-Net and Off-Net Market"
  ]
  node [
    id 141
    label "Bologna"
    Country "Italy"
    Longitude 11.33875
    Internal 1
    Latitude 44.49381
    type "On-Net and Off-Net Market"
  ]
  node [
    id 142
    label "Berlin"
    Country "Germany"
    Longitude 13.41053
    Internal 1
    Latitude 52.52437
    type "On-Net and Off-Net Market"
  ]
  node [
    id 143
    label "Hamburg"
    Country "Germany"
    Longitude 10.0
    Internal 1
    Latitude 53.55
    type "On-Net and Off-Net Market"
  ]
  node [
    id 144
    label "None"
    hyperedge 1
    Internal 1
  ]
  node [
    id 145
    label "White Plains"
    Country "United States"
    Longitude -73.76291
    Internal 1
    Latitude 41.03399
    type "On-Net and Off-Net Market"
  ]
  node [
    id 146
    label "Baltimore"
    Country "United States"
    Longitude -76.61219
    Internal 1
    Latitude 39.29038
    type "On-Net and Off-Net Market"
  ]
  node [
    id 147
    label "None"
    hyperedge 1
    Internal 1
  ]
  node [
    id 148
    label "None"
    hyperedge 1
    Internal 1
  ]
  node [
    id 149
    label "None"
    hyperedge 1
    Internal 1
  ]
  node [
    id 150
    label "None"
    hyperedge 1
    Internal 1
  ]
  node [
    id 151
    label "Newark"
    Country "United States"
    Longitude -74.17237
    Internal 1
    Latitude 40.73566
    type "On-Net and Off-Net Market"
  ]
  node [
    id 152
    label "Philadelphia"
    Country "United States"
    Longitude -75.16379
    Internal 1
    Latitude 39.95234
    type "On-Net and Off-Net Market"
  ]
  node [
    id 153
    label "Harrisburg"
    Country "United States"
    Longitude -76.88442
    Internal 1
    Latitude 40.2737
    type "On-Net and Off-Net Market"
  ]
  node [
    id 154
    label "Washington"
    Country "United States"
    Longitude -77.03637
    Internal 1
    Latitude 38.89511
    type "On-Net and Off-Net Market with Cogent Data Center(s)"
  ]
  node [
    id 155
    label "Boston"
    Country "United States"
    Longitude -71.05977
    Internal 1
    Latitude 42.35843
    type "On-Net and Off-Net Market with Cogent Data Center(s)"
  ]
  node [
    id 156
    label "Providence"
    Country "United States"
    Longitude -71.41283
    Internal 1
    Latitude 41.82399
    type "On-Net and Off-Net Market"
  ]
  node [
    id 157
    label "Stamford"
    Country "United States"
    Longitude -73.53873
    Internal 1
    Latitude 41.05343
    type "On-Net and Off-Net Market"
  ]
  node [
    id 158
    label "New York"
    Country "United States"
    Longitude -74.00597
    Internal 1
    Latitude 40.71427
    type "On-Net and Off-Net Market with Cogent Data Center(s)"
  ]
  node [
    id 159
    label "Herndon"
    Country "United States"
    Longitude -77.3861
    Internal 1
    Latitude 38.96955
    type "On-Net and Off-Net Market with Cogent Data Center(s)"
  ]
  node [
    id 160
    label "Pittsburgh"
    Country "United States"
    Longitude -79.99589
    Internal 1
    Latitude 40.44062
    type "On-Net and Off-Net Market with Cogent Data Center(s)"
  ]
  node [
    id 161
    label "Cologne"
    Country "Germany"
    Longitude 6.95
    Internal 1
    Latitude 50.93333
    type "On-Net and Off-Net Market"
  ]
  node [
    id 162
    label "Dusseldorf"
    Country "Germany"
    Longitude 6.77616
    Internal 1
    Latitude 51.22172
    type "On-Net and Off-Net Market"
  ]
  node [
    id 163
    label "Amsterdam"
    Country "Netherlands"
    Longitude 4.88969
    Internal 1
    Latitude 52.37403
    type "On-Net and Off-Net Market"
  ]
  node [
    id 164
    label "Cambridge"
    Country "United Kingdom"
    Longitude 0.11667
    Internal 1
    Latitude 52.2
    type "On-Net and Off-Net Market"
  ]
  node [
    id 165
    label "London"
    Country "United Kingdom"
    Longitude -0.12574
    Internal 1
    Latitude 51.50853
    type "On-Net and Off-Net Market"
  ]
  node [
    id 166
    label "Slough"
    Country "United Kingdom"
    Longitude -0.58333
    Internal 1
    Latitude 51.5
    type "On-Net and Off-Net Market"
  ]
  node [
    id 167
    label "Essen"
    Country "Germany"
    Longitude 7.01667
    Internal 1
    Latitude 51.45
    type "On-Net and Off-Net Market"
  ]
  node [
    id 168
    label "Dortmund"
    Country "Germany"
    Longitude 7.45
    Internal 1
    Latitude 51.51667
    type "On-Net and Off-Net Market"
  ]
  node [
    id 169
    label "Munster"
    Country "Germany"
    Longitude 7.62571
    Internal 1
    Latitude 51.96236
    type "On-Net and Off-Net Market"
  ]
  node [
    id 170
    label "Rotterdam"
    Country "Netherlands"
    Longitude 4.47917
    Internal 1
    Latitude 51.9225
    type "On-Net and Off-Net Market"
  ]
  node [
    id 171
    label "None"
    hyperedge 1
    Internal 1
  ]
  node [
    id 172
    label "None"
    hyperedge 1
    Internal 1
  ]
  node [
    id 173
    label "None"
    hyperedge 1
    Internal 1
  ]
  node [
    id 174
    label "None"
    hyperedge 1
    Internal 1
  ]
  node [
    id 175
    label "None"
    hyperedge 1
    Internal 1
  ]
  node [
    id 176
    label "None"
    hyperedge 1
    Internal 1
  ]
  node [
    id 177
    label "Dublin"
    Country "Ireland"
    Longitude -6.26719
    Internal 1
    Latitude 53.34399
    type "On-Net and Off-Net Market"
  ]
  node [
    id 178
    label "Seattle"
    Country "United States"
    Longitude -122.33207
    Internal 1
    Latitude 47.60621
    type "On-Net and Off-Net Market"
  ]
  node [
    id 179
    label "Portland"
    Country "United States"
    Longitude -122.67621
    Internal 1
    Latitude 45.52345
    type "On-Net and Off-Net Market"
  ]
  node [
    id 180
    label "Las Vegas"
    Country "United States"
    Longitude -115.13722
    Internal 1
    Latitude 36.17497
    type "On-Net and Off-Net Market"
  ]
  node [
    id 181
    label "Montreal"
    Country "Canada"
    Longitude -73.58781
    Internal 1
    Latitude 45.50884
    type "On-Net and Off-Net Market"
  ]
  node [
    id 182
    label "Tallinn"
    Country "Estonia"
    Longitude 24.75353
    Internal 1
    Latitude 59.43696
    type "On-Net and Off-Net Market"
  ]
  node [
    id 183
    label "Paris"
    Country "France"
    Longitude 2.3488
    Internal 1
    Latitude 48.85341
    type "On-Net and Off-Net Market"
  ]
  node [
    id 184
    label "Lille"
    Country "France"
    Longitude 3.06667
    Internal 1
    Latitude 50.63333
    type "On-Net and Off-Net Market with Cogent Data Center(s)"
  ]
  node [
    id 185
    label "Bremen"
    Country "Germany"
    Longitude 8.80777
    Internal 1
    Latitude 53.07516
    type "On-Net and Off-Net Market"
  ]
  node [
    id 186
    label "Brussels"
    Country "Belgium"
    Longitude 4.34878
    Internal 1
    Latitude 50.85045
    type "On-Net and Off-Net Market"
  ]
  node [
    id 187
    label "Antwerp"
    Country "Belgium"
    Longitude 4.41667
    Internal 1
    Latitude 51.21667
    type "On-Net and Off-Net Market"
  ]
  node [
    id 188
    label "Porto"
    Country "Portugal"
    Longitude -8.61667
    Internal 1
    Latitude 41.15
    type "On-Net and Off-Net Market"
  ]
  node [
    id 189
    label "Helsinki"
    Country "Finland"
    Longitude 24.93545
    Internal 1
    Latitude 60.16952
    type "On-Net and Off-Net Market"
  ]
  node [
    id 190
    label "Kharkiv"
    Country "Ukraine"
    Longitude 36.25
    Internal 1
    Latitude 50.0
    type "On-Net and Off-Net Market"
  ]
  node [
    id 191
    label "Kiev"
    Country "Ukraine"
    Longitude 30.5238
    Internal 1
    Latitude 50.45466
    type "On-Net and Off-Net Market"
  ]
  node [
    id 192
    label "Warsaw"
    Country "Poland"
    Longitude 21.01178
    Internal 1
    Latitude 52.22977
    type "On-Net and Off-Net Market"
  ]
  node [
    id 193
    label "Krakow"
    Country "Poland"
    Longitude 19.91667
    Internal 1
    Latitude 50.08333
    type "On-Net and Off-Net Market"
  ]
  node [
    id 194
    label "Brno"
    Country "Czech Republic"
    Longitude 16.60796
    Internal 1
    Latitude 49.19522
    type "On-Net and Off-Net Market"
  ]
  node [
    id 195
    label "Worcester"
    Country "United Kingdom"
    Longitude -2.22001
    Internal 1
    Latitude 52.18935
    type "On-Net and Off-Net Market"
  ]
  node [
    id 196
    label "Albany"
    Country "United States"
    Longitude -73.75623
    Internal 1
    Latitude 42.65258
    type "On-Net and Off-Net Market"
  ]
  edge [
    source 0
    target 176
    id "e62"
  ]
  edge [
    source 0
    target 9
    id "e61"
  ]
  edge [
    source 1
    target 8
    id "e59"
  ]
  edge [
    source 1
    target 176
    id "e64"
  ]
  edge [
    source 1
    target 114
    id "e63"
  ]
  edge [
    source 1
    target 116
    id "e65"
  ]
  edge [
    source 1
    target 175
    id "e66"
  ]
  edge [
    source 2
    target 76
    id "e50"
  ]
  edge [
    source 2
    target 77
    id "e49"
  ]
  edge [
    source 3
    target 4
    id "e51"
  ]
  edge [
    source 3
    target 77
    id "e52"
  ]
  edge [
    source 4
    target 6
    id "e54"
  ]
  edge [
    source 4
    target 135
    id "e53"
  ]
  edge [
    source 5
    target 131
    id "e11"
  ]
  edge [
    source 5
    target 6
    id "e55"
  ]
  edge [
    source 6
    target 7
    id "e56"
  ]
  edge [
    source 7
    target 8
    id "e57"
  ]
  edge [
    source 7
    target 174
    id "e58"
  ]
  edge [
    source 8
    target 194
    id "e7"
  ]
  edge [
    source 8
    target 9
    id "e60"
  ]
  edge [
    source 8
    target 191
    id "e3"
  ]
  edge [
    source 10
    target 11
    id "e180"
  ]
  edge [
    source 10
    target 13
    id "e178"
  ]
  edge [
    source 11
    target 16
    id "e181"
  ]
  edge [
    source 12
    target 32
    id "e172"
  ]
  edge [
    source 12
    target 13
    id "e176"
  ]
  edge [
    source 12
    target 30
    id "e174"
  ]
  edge [
    source 13
    target 16
    id "e179"
  ]
  edge [
    source 13
    target 15
    id "e177"
  ]
  edge [
    source 14
    target 64
    id "e183"
  ]
  edge [
    source 14
    target 129
    id "e185"
  ]
  edge [
    source 14
    target 15
    id "e184"
  ]
  edge [
    source 16
    target 17
    id "e182"
  ]
  edge [
    source 18
    target 19
    id "e186"
  ]
  edge [
    source 18
    target 30
    id "e175"
  ]
  edge [
    source 19
    target 89
    id "e187"
  ]
  edge [
    source 19
    target 68
    id "e188"
  ]
  edge [
    source 19
    target 82
    id "e189"
  ]
  edge [
    source 20
    target 21
    id "e124"
  ]
  edge [
    source 20
    target 23
    id "e125"
  ]
  edge [
    source 21
    target 26
    id "e123"
  ]
  edge [
    source 22
    target 188
    id "e127"
  ]
  edge [
    source 22
    target 23
    id "e126"
  ]
  edge [
    source 24
    target 27
    id "e119"
  ]
  edge [
    source 25
    target 171
    id "e118"
  ]
  edge [
    source 25
    target 55
    id "e117"
  ]
  edge [
    source 26
    target 27
    id "e120"
  ]
  edge [
    source 26
    target 28
    id "e122"
  ]
  edge [
    source 26
    target 29
    id "e121"
  ]
  edge [
    source 28
    target 51
    id "e128"
  ]
  edge [
    source 28
    target 54
    id "e129"
  ]
  edge [
    source 29
    target 78
    id "e103"
  ]
  edge [
    source 30
    target 35
    id "e173"
  ]
  edge [
    source 31
    target 37
    id "e164"
  ]
  edge [
    source 32
    target 33
    id "e171"
  ]
  edge [
    source 32
    target 37
    id "e166"
  ]
  edge [
    source 34
    target 37
    id "e168"
  ]
  edge [
    source 35
    target 37
    id "e167"
  ]
  edge [
    source 36
    target 38
    id "e170"
  ]
  edge [
    source 36
    target 39
    id "e169"
  ]
  edge [
    source 37
    target 160
    id "e163"
  ]
  edge [
    source 37
    target 38
    id "e165"
  ]
  edge [
    source 38
    target 196
    id "e147"
  ]
  edge [
    source 39
    target 181
    id "e145"
  ]
  edge [
    source 40
    target 41
    id "e19"
  ]
  edge [
    source 40
    target 42
    id "e17"
  ]
  edge [
    source 41
    target 43
    id "e18"
  ]
  edge [
    source 41
    target 189
    id "e1"
  ]
  edge [
    source 42
    target 43
    id "e16"
  ]
  edge [
    source 42
    target 143
    id "e13"
  ]
  edge [
    source 42
    target 143
    id "e14"
  ]
  edge [
    source 44
    target 45
    id "e23"
  ]
  edge [
    source 44
    target 47
    id "e22"
  ]
  edge [
    source 45
    target 48
    id "e24"
  ]
  edge [
    source 45
    target 164
    id "e25"
  ]
  edge [
    source 46
    target 49
    id "e20"
  ]
  edge [
    source 46
    target 47
    id "e21"
  ]
  edge [
    source 48
    target 155
    id "e27"
  ]
  edge [
    source 48
    target 181
    id "e26"
  ]
  edge [
    source 49
    target 177
    id "e28"
  ]
  edge [
    source 49
    target 147
    id "e29"
  ]
  edge [
    source 49
    target 165
    id "e30"
  ]
  edge [
    source 50
    target 57
    id "e137"
  ]
  edge [
    source 50
    target 51
    id "e138"
  ]
  edge [
    source 51
    target 188
    id "e139"
  ]
  edge [
    source 52
    target 53
    id "e132"
  ]
  edge [
    source 52
    target 55
    id "e131"
  ]
  edge [
    source 53
    target 58
    id "e133"
  ]
  edge [
    source 54
    target 55
    id "e130"
  ]
  edge [
    source 56
    target 57
    id "e136"
  ]
  edge [
    source 56
    target 59
    id "e135"
  ]
  edge [
    source 58
    target 59
    id "e134"
  ]
  edge [
    source 60
    target 61
    id "e216"
  ]
  edge [
    source 60
    target 69
    id "e215"
  ]
  edge [
    source 61
    target 128
    id "e218"
  ]
  edge [
    source 61
    target 122
    id "e217"
  ]
  edge [
    source 62
    target 144
    id "e204"
  ]
  edge [
    source 62
    target 86
    id "e201"
  ]
  edge [
    source 62
    target 63
    id "e205"
  ]
  edge [
    source 63
    target 68
    id "e207"
  ]
  edge [
    source 63
    target 149
    id "e206"
  ]
  edge [
    source 64
    target 65
    id "e208"
  ]
  edge [
    source 64
    target 67
    id "e209"
  ]
  edge [
    source 64
    target 68
    id "e210"
  ]
  edge [
    source 65
    target 66
    id "e211"
  ]
  edge [
    source 66
    target 67
    id "e212"
  ]
  edge [
    source 67
    target 69
    id "e213"
  ]
  edge [
    source 69
    target 144
    id "e214"
  ]
  edge [
    source 70
    target 79
    id "e101"
  ]
  edge [
    source 70
    target 183
    id "e100"
  ]
  edge [
    source 71
    target 72
    id "e98"
  ]
  edge [
    source 71
    target 79
    id "e99"
  ]
  edge [
    source 72
    target 73
    id "e97"
  ]
  edge [
    source 73
    target 74
    id "e95"
  ]
  edge [
    source 74
    target 183
    id "e96"
  ]
  edge [
    source 75
    target 173
    id "e94"
  ]
  edge [
    source 75
    target 183
    id "e93"
  ]
  edge [
    source 76
    target 173
    id "e92"
  ]
  edge [
    source 77
    target 152
    id "e91"
  ]
  edge [
    source 77
    target 162
    id "e47"
  ]
  edge [
    source 77
    target 133
    id "e90"
  ]
  edge [
    source 78
    target 94
    id "e104"
  ]
  edge [
    source 78
    target 79
    id "e102"
  ]
  edge [
    source 80
    target 81
    id "e203"
  ]
  edge [
    source 80
    target 81
    id "e202"
  ]
  edge [
    source 80
    target 86
    id "e200"
  ]
  edge [
    source 80
    target 87
    id "e199"
  ]
  edge [
    source 82
    target 88
    id "e194"
  ]
  edge [
    source 82
    target 83
    id "e192"
  ]
  edge [
    source 82
    target 150
    id "e195"
  ]
  edge [
    source 83
    target 148
    id "e193"
  ]
  edge [
    source 84
    target 148
    id "e191"
  ]
  edge [
    source 84
    target 85
    id "e190"
  ]
  edge [
    source 86
    target 87
    id "e198"
  ]
  edge [
    source 87
    target 88
    id "e197"
  ]
  edge [
    source 89
    target 150
    id "e196"
  ]
  edge [
    source 90
    target 172
    id "e111"
  ]
  edge [
    source 91
    target 99
    id "e113"
  ]
  edge [
    source 91
    target 92
    id "e112"
  ]
  edge [
    source 92
    target 96
    id "e109"
  ]
  edge [
    source 92
    target 93
    id "e115"
  ]
  edge [
    source 92
    target 183
    id "e114"
  ]
  edge [
    source 94
    target 171
    id "e105"
  ]
  edge [
    source 95
    target 96
    id "e106"
  ]
  edge [
    source 95
    target 171
    id "e107"
  ]
  edge [
    source 96
    target 97
    id "e108"
  ]
  edge [
    source 97
    target 172
    id "e110"
  ]
  edge [
    source 98
    target 194
    id "e8"
  ]
  edge [
    source 98
    target 131
    id "e9"
  ]
  edge [
    source 99
    target 100
    id "e116"
  ]
  edge [
    source 100
    target 132
    id "e88"
  ]
  edge [
    source 101
    target 104
    id "e236"
  ]
  edge [
    source 101
    target 180
    id "e238"
  ]
  edge [
    source 101
    target 102
    id "e237"
  ]
  edge [
    source 102
    target 109
    LinkLabel "Leased Wavelength/Managed Service"
  ]
  edge [
    source 103
    target 104
    LinkLabel "Leased Wavelength/Managed Service"
  ]
  edge [
    source 103
    target 106
    LinkLabel "Leased Wavelength/Managed Service"
  ]
  edge [
    source 105
    target 106
    id "e232"
  ]
  edge [
    source 105
    target 107
    id "e230"
  ]
  edge [
    source 105
    target 179
    id "e233"
  ]
  edge [
    source 107
    target 108
    id "e229"
  ]
  edge [
    source 107
    target 129
    id "e228"
  ]
  edge [
    source 108
    target 179
    id "e231"
  ]
  edge [
    source 109
    target 110
    LinkLabel "Leased Wavelength/Managed Service"
  ]
  edge [
    source 110
    target 128
    id "e225"
  ]
  edge [
    source 111
    target 112
    id "e75"
  ]
  edge [
    source 111
    target 140
    id "e77"
  ]
  edge [
    source 112
    target 137
    id "e76"
  ]
  edge [
    source 113
    target 114
    id "e67"
  ]
  edge [
    source 113
    target 191
    id "e4"
  ]
  edge [
    source 115
    target 116
    id "e68"
  ]
  edge [
    source 115
    target 118
    id "e69"
  ]
  edge [
    source 117
    target 120
    id "e71"
  ]
  edge [
    source 117
    target 118
    id "e70"
  ]
  edge [
    source 119
    target 176
    id "e73"
  ]
  edge [
    source 119
    target 175
    id "e74"
  ]
  edge [
    source 120
    target 175
    id "e72"
  ]
  edge [
    source 121
    target 122
    id "e219"
  ]
  edge [
    source 121
    target 124
    id "e220"
  ]
  edge [
    source 123
    target 124
    id "e221"
  ]
  edge [
    source 123
    target 125
    id "e223"
  ]
  edge [
    source 123
    target 126
    id "e222"
  ]
  edge [
    source 127
    target 128
    id "e224"
  ]
  edge [
    source 127
    target 130
    id "e226"
  ]
  edge [
    source 129
    target 130
    id "e227"
  ]
  edge [
    source 131
    target 142
    id "e10"
  ]
  edge [
    source 132
    target 135
    id "e87"
  ]
  edge [
    source 133
    target 173
    id "e89"
  ]
  edge [
    source 134
    target 137
    id "e84"
  ]
  edge [
    source 134
    target 138
    id "e80"
  ]
  edge [
    source 134
    target 135
    id "e86"
  ]
  edge [
    source 136
    target 139
    id "e83"
  ]
  edge [
    source 137
    target 172
    id "e85"
  ]
  edge [
    source 138
    target 174
    id "e81"
  ]
  edge [
    source 138
    target 141
    id "e79"
  ]
  edge [
    source 139
    target 174
    id "e82"
  ]
  edge [
    source 140
    target 141
    id "e78"
  ]
  edge [
    source 142
    target 143
    id "e12"
  ]
  edge [
    source 143
    target 185
    id "e15"
  ]
  edge [
    source 144
    target 149
    id "e244"
  ]
  edge [
    source 145
    target 157
    LinkLabel "Leased Wavelength/Managed Service"
  ]
  edge [
    source 146
    target 152
    id "e157"
  ]
  edge [
    source 146
    target 154
    id "e162"
  ]
  edge [
    source 147
    target 166
    id "e33"
  ]
  edge [
    source 147
    target 177
    id "e242"
  ]
  edge [
    source 148
    target 154
    id "e160"
  ]
  edge [
    source 149
    target 150
    id "e243"
  ]
  edge [
    source 151
    target 152
    id "e155"
  ]
  edge [
    source 152
    target 153
    id "e156"
  ]
  edge [
    source 153
    target 160
    id "e159"
  ]
  edge [
    source 153
    target 154
    id "e158"
  ]
  edge [
    source 154
    target 159
    id "e161"
  ]
  edge [
    source 154
    target 183
    id "e144"
  ]
  edge [
    source 155
    target 195
    id "e150"
  ]
  edge [
    source 155
    target 156
    id "e151"
  ]
  edge [
    source 155
    target 165
    id "e37"
  ]
  edge [
    source 156
    target 157
    id "e152"
  ]
  edge [
    source 157
    target 158
    LinkLabel "Leased Wavelength/Managed Service"
  ]
  edge [
    source 158
    target 183
    id "e143"
  ]
  edge [
    source 158
    target 196
    id "e148"
  ]
  edge [
    source 158
    target 165
    id "e38"
  ]
  edge [
    source 161
    target 162
    id "e48"
  ]
  edge [
    source 162
    target 163
    id "e41"
  ]
  edge [
    source 162
    target 167
    id "e46"
  ]
  edge [
    source 163
    target 187
    id "e42"
  ]
  edge [
    source 163
    target 164
    id "e40"
  ]
  edge [
    source 165
    target 177
    id "e39"
  ]
  edge [
    source 165
    target 181
    id "e36"
  ]
  edge [
    source 165
    target 184
    id "e35"
  ]
  edge [
    source 165
    target 186
    id "e34"
  ]
  edge [
    source 166
    target 170
    id "e31"
  ]
  edge [
    source 166
    target 183
    id "e32"
  ]
  edge [
    source 167
    target 168
    id "e45"
  ]
  edge [
    source 168
    target 169
    id "e43"
  ]
  edge [
    source 169
    target 185
    id "e44"
  ]
  edge [
    source 178
    target 179
    id "e241"
  ]
  edge [
    source 181
    target 196
    id "e146"
  ]
  edge [
    source 182
    target 189
    id "e0"
  ]
  edge [
    source 183
    target 184
    id "e142"
  ]
  edge [
    source 183
    target 186
    id "e141"
  ]
  edge [
    source 186
    target 187
    id "e140"
  ]
  edge [
    source 190
    target 191
    id "e2"
  ]
  edge [
    source 192
    target 193
    id "e5"
  ]
  edge [
    source 193
    target 194
    id "e6"
  ]
  edge [
    source 195
    target 196
    id "e149"
  ]
]
