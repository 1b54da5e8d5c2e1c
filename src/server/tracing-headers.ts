/** The headers of the trace collector, which are mostly keys, from files that variables name. */

import { readFileSync } from 'node:fs'

import { HeddleError, messageOf } from '../errors.ts'

const variables = ['OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_EXPORTER_OTLP_TRACES_HEADERS'] as const

/**
 * Sets the standard variables, which the exporter reads, from those with `_FILE`. Values that are
 * set here are not in `/proc/self/environ`. Throws HeddleError if a file cannot be read.
 */
export function readTracingHeaders(environment: NodeJS.ProcessEnv): void {
  for (const variable of variables) {
    const file = environment[`${variable}_FILE`]
    if (!file || environment[variable]) continue
    try {
      environment[variable] = readFileSync(file, 'utf8').trim()
    } catch (error) {
      throw new HeddleError('invalid',
        `${variable}_FILE: ${file} cannot be read: ${messageOf(error)}.`)
    }
  }
}
