/** Ten thousand simulated worlds, or as many as the time allows, in two processes. */

import { spawn } from 'node:child_process'
import { constants, setPriority } from 'node:os'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

import { expect, it } from 'vitest'
import { isNight, repeats } from '../support/repeats.ts'

const command = fileURLToPath(new URL('./simulate.ts', import.meta.url))
const seeds = 10_000
/** Clients of the second half search for lists and runs as well. */
const halves = 2
const withinS = repeats({ day: 15, night: 60 })
/** Seconds of processor that a world takes at most, on a slow machine. */
const slowestS = 3
/** Every night has worlds of its own. A world that fails names its seed. */
const first = isNight ? 1_000 + Number(process.env['HEDDLE_SEARCH_SEED'] ?? 0) % 1e9 : 1_000

it('a simulated cluster keeps its promises in 10 000 worlds, or as many as the time allows',
  async () => {
    const each = seeds / halves
    const said = await Promise.all(Array.from({ length: halves }, async (_, half) => {
      const args = [command, '--seeds', String(each), '--from', String(first + half * each),
        '--within', String(withinS), ...half > 0 ? ['--searches'] : []]
      const { pid, stdout } = spawn(process.execPath, args, {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      // Low priority: time in these worlds is simulated, but tests beside them measure real time.
      setPriority(pid!, constants.priority.PRIORITY_LOW)
      return text(stdout)
    }))
    console.log(said.join(''))
    for (const lines of said) {
      const [, done, processorS] = /^(\d+) seeds, 0 bad; .* (\S+) s of processor/.exec(lines) ?? []
      // Beside other work, low priority leaves little of the time.
      expect(Number(done), lines).toBeGreaterThanOrEqual(
        Math.max(1, Math.floor(Math.min(withinS, Number(processorS)) / slowestS)),
      )
    }
  }, 3_600_000)
