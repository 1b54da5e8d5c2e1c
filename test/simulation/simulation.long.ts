/** Ten thousand simulated worlds in two processes of low priority. */

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
    // Low priority: time in these worlds is simulated, but tests beside them measure real time.
    setPriority(pid!, constants.priority.PRIORITY_LOW)
    return text(stdout)
  }))
  for (const lines of said) expect(lines).toMatch(new RegExp(`^${each} seeds, 0 bad; `))
}, 3_600_000)
