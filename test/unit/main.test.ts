/** The command line before anything is served: help, and mistakes in a sentence each. */

import { describe, expect, it } from 'vitest'

import { heddle } from '../support/command.ts'

describe('the command', () => {
  it('explains every option', async () => {
    const { status, stdout } = await heddle('--help')
    expect(status).toBe(0)
    expect(stdout).toMatch(/--config <path>[^]*--port <number>[^]*\[PORT\][^]*--data <folder>/)
  })

  it.each([
    [['--prot', '3'], /^heddle: unknown option '--prot' \(Did you mean --port\?\); see --help\n$/],
    [['--port'], /^heddle: option '--port <number>' argument missing; see --help\n$/],
    [['../project', '3000'],
      /^heddle: "\.\.\/project" is no command, .*\(npm start -- --config <path>\); see --help\n$/],
    [['key', 'create'], /^heddle: "key" is no command, as "keys" and "billing" are: .*\n$/],
    [['--port', 'x'], /^heddle: --port \(or PORT\) must be a whole number .*, not "x"\.\n$/],
    [['--host', '0.0.0.0'], /^heddle: --host 0\.0\.0\.0 is reached by others.*\n$/],
  ])('answers %j by one sentence and exit code 2', async (args, sentence) => {
    const { status, stdout, stderr } = await heddle(...args)
    expect([status, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(sentence)
  })

  it('says each of several mistakes on a line of its own', async () => {
    const { stderr } = await heddle('--port', 'x', '--workers', '0')
    expect(stderr.match(/^heddle: --(port|workers) .*$/gm)).toHaveLength(2)
  })

  it('answers a project that is not there by one sentence and exit code 1', async () => {
    const { status, stderr } = await heddle('--config', 'nowhere/langgraph.json')
    expect(status).toBe(1)
    expect(stderr).toMatch(/^heddle: There is no project at .*nowhere\/langgraph\.json: .*\n$/)
  })
})
