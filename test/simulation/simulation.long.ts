/** Ten thousand simulated worlds, half of them on each processor, where others leave it free. */

import { spawn } from 'node:child_process'
import { constants, setPriority } from 'node:os'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

import { expect, it } from 'vitest'

const command = fileURLToPath(new URL('./simulate.ts', import.meta.url))
const seeds = 10_000
const halves = 2

it('a simulated cluster keeps its promises in 10 000 worlds', async () => {
  const each = seeds / halves
  const said = await Promise.all(Array.from({ length: halves }, async (_, half) => {
    const args = [command, '--seeds', String(each), '--from', String(1_000 + half * each)]
    const { pid, stdout } = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    // Time passes in these worlds as they like; in the tests beside them it is real.
    setPriority(pid!, constants.priority.PRIORITY_LOW)
    return text(stdout)
  }))
  for (const lines of said) expect(lines).toMatch(new RegExp(`^${each} seeds, 0 bad; `))
}, 3_600_000)
