/** The LangSmith client for Python, unmodified, if Python is there: nothing fails or warns. */

import { join } from 'node:path'

import { beforeAll, describe, it } from 'vitest'

import { findPython, pythonWith } from '../support/python.ts'
import { isNight } from '../support/repeats.ts'
import { useServer } from '../support/server.ts'
import { bases, expectToPass } from './drive.ts'

const found = findPython()
if (found === undefined) console.log('The Python client is not tested: Python 3.10 is not there.')

describe.skipIf(found === undefined)('the client for Python', () => {
  const server = useServer({ project: 'conformance', args: ['--platform-port', '0'] })

  let program: string
  beforeAll(async () => {
    program = await pythonWith(found!, join(import.meta.dirname, 'python/requirements.txt'))
  }, 600_000)

  const drive = (base: string, file = 'checks', least = 12) =>
    expectToPass({ program, args: [`python/${file}.py`, base, `python ${crypto.randomUUID()}`] },
      least)
  const platform = () => /"traces":"(http[^"]+)"/.exec(server.process.output())![1]!

  it.each(bases)('does all it can with the base %s', (base) => drive(server.url + base))

  it.runIf(isNight)('does all it can at the port of the platform', () => drive(platform()))

  it('makes datasets, evaluates over them and compares', () =>
    drive(`${server.url}/api/v1`, 'dataset_checks', 11))

  it('fills queues and shares runs and datasets', () =>
    drive(`${server.url}/api/v1`, 'share_checks', 5))

  it.runIf(isNight)('makes datasets and queues at the port of the platform', async () => {
    await drive(platform(), 'dataset_checks', 11)
    await drive(platform(), 'share_checks', 5)
  })
})
