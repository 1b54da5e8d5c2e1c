/** Takes the lock of a block, and holds it until it is killed. */

import { blockLocks } from '../../../../src/server/graphs-users/block-lock.ts'

const [folder, first] = process.argv.slice(2)
process.send!(blockLocks(folder)(Number(first)))
setInterval(() => {}, 1_000_000)
