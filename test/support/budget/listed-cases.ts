/** Cases of the day that cost more than others may, each with its reason. */

/** By file and by title. */
export const listedCases: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'test/contract/deployments.test.ts': {
    'are what was stored, until they are removed': 'four lives of a store, with chunks of 4 MiB',
  },
  'test/simulation/simulation.test.ts': {
    'loses, repeats and contradicts nothing in many worlds full of faults': 'searches for a time',
    'loses and brings back no item in worlds full of faults': 'searches for a time',
    'loses and brings back no record in worlds full of faults': 'searches for a time',
    'fires crons once for each due time in worlds full of faults': 'searches for a time',
  },
}
