/** One node: a Java process that ends with this process and can be started again. */

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

import { javaArguments, writeConfiguration } from './configuration.ts'
import type { NodeOptions } from './configuration.ts'
import { endWithUs } from './guard.ts'
import { ports } from './layout.ts'
import { java } from './library.ts'
import { isOpen } from './port.ts'

/** How a node is started. */
export interface NodeProcessOptions extends NodeOptions {
  /** The folder with the jars. */
  readonly library: string
  readonly log: (line: string) => void
}

/**
 * Lets idle threads of Cassandra sleep up to 0.3 ms longer (/proc/<pid>/timerslack_ns, Linux). They
 * poll for work about every ten microseconds. Several nodes on a machine with two cores spend half
 * a core or more on that as soon as there is any work, which this leaves to requests.
 */
const sleepier = 'echo 300000 2>/dev/null >/proc/self/timerslack_ns; exec "$@"'

/** Starts and ends one node. */
export class NodeProcess {
  readonly #options: NodeProcessOptions
  #java: ChildProcess | undefined
  /** True while the process is being ended on purpose. */
  #ending = false

  constructor(options: NodeProcessOptions) {
    this.#options = options
  }

  get address(): string {
    return this.#options.place.address
  }

  /** Id of the current process, or otherwise of the last one. */
  get pid(): number | undefined {
    return this.#java?.pid
  }

  /** Starts the process on its data. Resolves when it accepts connections on `port`. */
  async start(port: number = ports.client): Promise<void> {
    if (this.#runs()) throw new Error(`The node ${this.address} is already running.`)
    const { directory, library } = this.#options
    writeConfiguration(this.#options)
    const output = openSync(join(directory, 'output.log'), 'a')
    const program = spawn('sh', ['-c', sleepier, 'sh', java,
      ...javaArguments(this.#options, library)], { cwd: directory, detached: true,
      stdio: ['ignore', output, output] })
    closeSync(output)
    this.#java = program
    this.#ending = false
    program.on('error', () => undefined)
    if (program.pid !== undefined) {
      writeFileSync(pidFile(directory), String(program.pid))
      endWithUs(program)
    }
    program.once('exit', () => this.#ended(program))
    await this.accepts(port)
  }

  /** Resolves when the process accepts connections on `port`. Rejects if it ends before. */
  async accepts(port: number): Promise<void> {
    while (!await isOpen(this.address, port)) {
      if (!this.#runs()) throw new Error(this.#whyNot())
      await pause(50)
    }
  }

  /** Sends a signal. With one that ends the process, resolves when it has ended. */
  async kill(signal: NodeJS.Signals): Promise<void> {
    if (!this.#runs()) return
    if (signal !== 'SIGKILL' && signal !== 'SIGTERM') return void this.#java!.kill(signal)
    const ended = once(this.#java!, 'exit')
    this.#ending = true
    this.#java!.kill(signal)
    await ended
  }

  /** Ends the process gracefully, or by force if that takes longer than `patienceMs`. */
  async stop(patienceMs: number): Promise<void> {
    const patience = new AbortController()
    const force = pause(patienceMs, undefined, { signal: patience.signal })
      .then(() => this.kill('SIGKILL'), () => undefined)
    await this.kill('SIGTERM')
    patience.abort()
    await force
  }

  #runs(): boolean {
    const program = this.#java
    return program?.pid !== undefined && program.exitCode === null && program.signalCode === null
  }

  #ended(program: ChildProcess): void {
    if (this.#ending) return
    const how = program.signalCode ?? `exit code ${program.exitCode}`
    this.#options.log(`The node ${this.address} ended by itself (${how}).`)
  }

  /** The likely reason why the node did not start, from its logs. */
  #whyNot(): string {
    const { directory } = this.#options
    const lines = ['system.log', 'output.log'].flatMap((name) => {
      try {
        return readFileSync(join(directory, name), 'utf8').trim().split('\n')
      } catch {
        return []
      }
    })
    const reason = lines.findLast((line) => /^ERROR|Exception|rror:/.test(line)) ?? lines.at(-1)
    return `The node ${this.address} did not start: ${reason ?? 'it logged nothing'} (see ${
      join(directory, 'system.log')
    }).`
  }
}

/** The file with the process id of a node, by which leftover nodes are found. */
export const pidFile = (directory: string): string => join(directory, 'node.pid')
