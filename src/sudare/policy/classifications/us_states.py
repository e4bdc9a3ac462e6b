"""The states of the United States in the divisions and regions of the Census Bureau.

The areas outside of the states belong to no division. They stand below the root.
"""

US_STATES = """
Northeast/New England: CT Connecticut; ME Maine; MA Massachusetts; NH New Hampshire; RI Rhode Island; VT Vermont
Northeast/Middle Atlantic: NJ New Jersey; NY New York; PA Pennsylvania
Midwest/East North Central: IL Illinois; IN Indiana; MI Michigan; OH Ohio; WI Wisconsin
Midwest/West North Central: IA Iowa; KS Kansas; MN Minnesota; MO Missouri; NE Nebraska; ND North Dakota;
 SD South Dakota
South/South Atlantic: DE Delaware; DC District of Columbia; DC Washington DC; FL Florida; GA Georgia; MD Maryland;
 NC North Carolina; SC South Carolina; VA Virginia; WV West Virginia
South/East South Central: AL Alabama; KY Kentucky; MS Mississippi; TN Tennessee
South/West South Central: AR Arkansas; LA Louisiana; OK Oklahoma; TX Texas
West/Mountain: AZ Arizona; CO Colorado; ID Idaho; MT Montana; NV Nevada; NM New Mexico; UT Utah; WY Wyoming
West/Pacific: AK Alaska; CA California; HI Hawaii; OR Oregon; WA Washington
"""
US_AREAS = """
AS American Samoa; GU Guam; MP Northern Mariana Islands; PR Puerto Rico; VI U.S. Virgin Islands; VI Virgin Islands;
 VI United States Virgin Islands
"""
