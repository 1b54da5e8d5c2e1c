/** A backup comes back into an empty directory only, and only if it is whole. */

import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync,
  writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, it } from 'vitest'

import { systemEnv } from '../../../cluster/index.ts'
import { openEmbeddedStore } from '../../../src/store/embedded/index.ts'
import { heddle } from '../../support/command.ts'

const root = mkdtempSync(join(tmpdir(), 'heddle-restore-'))
afterAll(() => rmSync(root, { recursive: true }))

const restore = (name: string, to: string, ...args: readonly string[]) =>
  heddle('restore', join(root, name), '--data', join(root, to), ...args)

beforeAll(async () => {
  const data = join(root, 'data')
  await (await openEmbeddedStore({ directory: data, env: systemEnv({ level: 'silent' }) })).close()
  const made = await heddle('backup', join(root, 'b.db'), '--data', data, '--no-traces', '--json')
  expect(made.status).toBe(0)
  expect(JSON.parse(made.stdout)).toMatchObject({ file: join(root, 'b.db'),
    bytes: expect.any(Number) })
})

it('A restore says what it stopped, and what goes on.', async () => {
  const back = await restore('b.db', 'back', '--json')
  expect([back.status, back.stderr, JSON.parse(back.stdout)]).toEqual([0, '', {
    directory: join(root, 'back'),
    bytes: expect.any(Number),
    stopped: { runs: 0, webhooks: 0, crons: 0, rules: 0, experiments: 0 },
    checked: true,
  }])
  expect(readdirSync(join(root, 'back')).filter((name) => name.startsWith('restoring')))
    .toEqual([])
  expect((await restore('b.db', 'on', '--go-on')).stdout)
    .toContain('goes on with what was unfinished')
})

it('A damaged backup is refused with one sentence and exit code 1.', async () => {
  for (const end of ['', '.manifest']) copyFileSync(join(root, `b.db${end}`), join(root, `x${end}`))
  const bytes = readFileSync(join(root, 'x'))
  bytes.fill(7, Math.floor(bytes.length / 2), Math.floor(bytes.length / 2) + 64)
  writeFileSync(join(root, 'x'), bytes)
  const found = [await restore('x', 'none'), await heddle('backup', 'verify', join(root, 'x'))]
  for (const { status, stdout, stderr } of found) {
    expect([status, stdout, stderr]).toEqual([1, '',
      expect.stringMatching(/^heddle: .*x is damaged or belongs to another backup: .*\.\n$/)])
  }
  expect(existsSync(join(root, 'none'))).toBe(false)
})

it('A backup of an earlier version is restored with a warning, unless a manifest is required.',
  async () => {
    // It has neither a manifest nor the mark of one.
    const earlier = join(root, 'earlier.db')
    copyFileSync(join(root, 'b.db'), earlier)
    const database = new DatabaseSync(earlier)
    database.exec('PRAGMA application_id = 0')
    database.close()
    const back = await restore('earlier.db', 'from earlier')
    expect([back.status, back.stderr]).toEqual([0, expect.stringMatching(
      /without a manifest, .*: --require-manifest refuses such a backup\.\n$/,
    )])
    const refused = await restore('earlier.db', 'never', '--require-manifest')
    expect([refused.status, refused.stderr])
      .toEqual([1, expect.stringMatching(/^heddle: There is no .*earlier\.db\.manifest to check/)])
    expect((await restore('b.db', 'never', '--require-manifest', '--without-manifest')).status)
      .toBe(2)
  })

it('A restore refuses what is damaged, foreign, or would be overwritten.', async () => {
  mkdirSync(join(root, 'full'))
  writeFileSync(join(root, 'full', 'mine.txt'), 'mine')
  const full = await restore('b.db', 'full')
  expect([full.status, full.stderr]).toEqual([3, expect.stringMatching(/not empty \(mine\.txt\)/)])
  expect((await restore('none.db', 'd')).status).toBe(3)
  writeFileSync(join(root, 'text.db'), 'no database, but long enough to be read as one'.repeat(99))
  expect((await restore('text.db', 'd')).stderr).toMatch(/is damaged/)
  copyFileSync(join(root, 'b.db'), join(root, 'cut.db'))
  writeFileSync(join(root, 'cut.db'), Buffer.alloc(8_192, 7), { flag: 'r+' })
  expect((await restore('cut.db', 'd')).status).toBe(1)
  expect(readdirSync(join(root, 'd'))).toEqual([])
  expect((await heddle('restore')).status).toBe(2)
})
