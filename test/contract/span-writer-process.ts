/**
 * Writes traces until it is killed. Prints the number of each trace as soon as its write is
 * acknowledged. Started by embedded-spans-crash.test.ts with a data
 * directory and the number of the first trace.
 */

import { openSpanStore } from '../../src/store/embedded/platform/open.ts'
import { crashRequest } from './crash-request.ts'

const store = await openSpanStore({ directory: process.argv[2], diskBytes: 2 ** 40 }, 'write')
const write = async (first: number) => {
  for (let trace = first;; trace += 4) {
    await store.write(crashRequest(trace))
    process.stdout.write(`${trace}\n`)
  }
}
const first = Number(process.argv[3])
await Promise.all([0, 1, 2, 3].map((one) => write(first + one)))
