/**
 * What `<name>` stands for in a phrase: common first names, all of them in the packaged dictionary (a test holds that).
 * More names cost little to listen for, but each makes the others less certain: names that sound alike are left out
 * where one is rare.
 */
export const FIRST_NAMES: readonly string[] = `
  aaron abigail adam ahmed alan albert alex alexander alexis ali alice amanda amber amy ana andrea andrew angela
  ann anna anthony arthur asha ashley austin barbara ben benjamin betty beverly billy bob bobby bradley brandon
  brenda brian brittany bruce bryan caleb carl carlos carol carolyn catherine charles charlotte cheryl chris
  christian christina christine christopher clara cynthia dan daniel danielle david deborah debra denise dennis
  diana diane donald donna douglas dylan edward elijah elizabeth ella emily emma eric ethan eva evelyn frances
  frank gabriel gary george gerald gloria grace gregory hannah harold heather helen henry hugo isabella jack jacob
  jacqueline james jane janet janice jason jean jeffrey jennifer jeremy jerry jesse jessica jim joan joe john
  jonathan jordan jose joseph joshua joyce juan judith judy julia julie justin karen kate katherine kathleen
  kathryn kayla keith kelly kenneth kevin kyle larry laura lauren lawrence leo liam linda lisa logan lori lucas
  lucy luis madison margaret maria marie marilyn mark martha mary mason matt matthew max megan melissa michael
  michelle miguel mike nancy natalie nathan nicholas nick nicole nina noah olivia omar oscar pamela patricia
  patrick paul pedro peter philip rachel randy ravi raymond rebecca richard robert roger ronald rosa roy russell
  ruth ryan sam samantha samuel sandra sara sarah scott sean sharon shirley simon sophia sophie stephanie stephen
  steve steven susan teresa terry theresa thomas timothy tom tony tyler victoria vincent virginia walter wayne
  william willie zachary
`
  .trim()
  .split(/\s+/);
