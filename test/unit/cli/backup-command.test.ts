/** The command that backs up data, while something has them open and while nothing does. */

import { copyFileSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'

import { systemEnv } from '../../../cluster/index.ts'
import { openEmbeddedStore } from '../../../src/store/embedded/index.ts'
import { aBranch, aRow, aThread, bodyText } from '../../contract/rows.ts'
import { heddle } from '../../support/command.ts'

const root = mkdtempSync(join(tmpdir(), 'heddle-backup-'))
afterAll(() => rmSync(root, { recursive: true }))

const open = (directory: string) =>
  openEmbeddedStore({ directory, env: systemEnv({ level: 'silent' }) })

// The first call loads the command.
beforeAll(() => heddle('backup', '--help'))

it('The command "backup" makes a file that a store can be opened on.', async () => {
  const data = join(root, 'data')
  const backUp = (name: string) => heddle('backup', join(root, name), '--data', data)
  const store = await open(data)
  const branch = aBranch()
  await store.log.append([aRow({ branch, seq: 1 })], [{ table: 'thread',
    row: aThread({ threadId: branch.id, branch }) }])
  const { status, stdout } = await backUp('running.db')
  expect([status, stdout]).toEqual([0, expect.stringMatching(/running\.db has all data of .* MB/)])
  expect(statSync(join(root, 'running.db')).mode & 0o777).toBe(0o600)
  const again = await backUp('running.db')
  expect([again.status, again.stderr]).toEqual([3, expect.stringMatching(/exists already, .*\n$/)])
  await store.close()
  expect((await backUp('stopped.db')).status).toBe(0)
  for (const name of ['running', 'stopped']) {
    mkdirSync(join(root, name))
    copyFileSync(join(root, `${name}.db`), join(root, name, 'heddle.db'))
    const found = await open(join(root, name))
    const rows = await found.log.read(branch, { from: 1, through: 9 })
    expect(rows.map(({ body }) => bodyText(body))).toEqual([`${branch.id} 1`])
    expect(await found.threads.get('local', branch.id)).toMatchObject({ seq: 1 })
    await found.close()
  }
})

it('The command "backup verify" prints the files and rows of a whole backup.', async () => {
  const data = join(root, 'small')
  await (await open(data)).close()
  const file = join(root, 'small.db')
  expect((await heddle('backup', file, '--data', data)).status).toBe(0)
  const { status, stdout } = await heddle('backup', 'verify', file)
  expect([status, stdout]).toEqual([0, expect.stringMatching(
    /small\.db is whole\. Made at 20\S+ by heddle \S+\.\n\nfile +MB +SHA-256 +rows\nsmall\.db /,
  )])
  const asJson = await heddle('backup', 'verify', file, '--json')
  expect(JSON.parse(asJson.stdout)).toMatchObject({ backup: file, traces: true,
    files: [{ file, bytes: statSync(file).size, rows: { thread: 0 } }] })
  expect((await heddle('backup', 'verify')).stderr)
    .toMatch(/missing required argument 'backup'; see backup verify --help/)
})

it('The command "backup" says what to do with data in Cassandra, and without a file.', async () => {
  const cassandra = await heddle('backup', join(root, 'c.db'), '--store', 'cassandra',
    '--local-datacenter', 'us', '--keyspace', 'shop')
  expect([cassandra.status, cassandra.stderr]).toEqual([3,
    expect.stringMatching(/^heddle: .* "nodetool snapshot shop shop_control" on each .*\n$/)])
  expect((await heddle('backup')).stderr).toMatch(/missing required argument 'file'; see backup/)
})
