/** Commands in processes of their own. All else is tested in process. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'

import { heddleProcess, heddleProcessIn } from '../../support/command.ts'

const root = mkdtempSync(join(tmpdir(), 'heddle-processes-'))
afterAll(() => rmSync(root, { recursive: true }))

it('A process prints to its two outputs, and ends with the exit code of its command.', async () => {
  mkdirSync(join(root, 'project'))
  writeFileSync(join(root, 'project', 'langgraph.json'), '{')
  const calledIn = { INIT_CWD: join(root, 'project'), npm_lifecycle_event: 'heddle' }
  const [help, broken, misused] = await Promise.all([heddleProcess('--help'),
    heddleProcessIn(calledIn, 'dev'), heddleProcess('keys', 'revoke')])
  expect(help).toMatchObject({ status: 0, stdout: expect.stringMatching(/^Usage: heddle /),
    stderr: '' })
  expect(broken).toMatchObject({ status: 1, stdout: '',
    stderr: expect.stringContaining(`${calledIn.INIT_CWD}/langgraph.json is not JSON`) })
  expect(misused).toEqual({ status: 2, stdout: '',
    stderr: "heddle: missing required argument 'id'; see keys --help\n" })
})
