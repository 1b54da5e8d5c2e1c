/** The announcement of a server that is ready: for a person, or as one line of JSON. Pure. */

import { styleText } from 'node:util'

import { timeText } from '../json/index.ts'
import type { Server } from '../server/server.ts'
import { ownVersion } from '../settings/index.ts'
import type { Settings } from '../settings/index.ts'

/** Formats a few lines for a person at a terminal. `nearby` shortens paths. */
export function bannerText(
  { url, studioUrl, platformUrl, metricsPort, graphs, place, member }: Server,
  { settings: { dataDirectory, metrics, port, portIsChosen }, nearby }: {
    readonly settings: Settings
    readonly nearby: (path: string) => string
  },
): string {
  const label = (text: string) => styleText('dim', text.padEnd(8))
  const width = Math.max(...graphs.map(({ graphId }) => graphId.length))
  const lines = graphs.map(({ graphId, file, loaded }, index) => {
    const fault = loaded ? '' : styleText('red', '  cannot be used, see the log')
    const name = label(index === 0 ? 'graphs' : '') + graphId.padEnd(width)
    return `  ${name}  ${nearby(file)}${fault}`
  })
  return [
    '',
    `  ${styleText('bold', `heddle ${ownVersion()}`)} serves ` +
    (url === undefined ? 'other members' : `at ${styleText('cyan', url)}`),
    '',
    ...studioUrl === undefined ? [] : [`  ${label('studio')}${styleText('cyan', studioUrl)}`],
    ...lines,
    ...noteOf(url, { port, portIsChosen }).map((note) => `  ${label('port')}${note}`),
    `  ${label('data')}${place === dataDirectory ? nearby(place) : place}`,
    ...member === undefined ? [] : [`  ${label('member')}${member}`],
    ...url === undefined ? [] : [`  ${label('docs')}${url}/docs`],
    ...platformUrl === undefined ? [] : [`  ${label('traces')}${platformUrl}`],
    ...metricsPort === undefined
      ? []
      : [`  ${label('metrics')}port ${metricsPort} of ${metrics!.host}`],
    '',
    '',
  ].join('\n')
}

/** Formats a line of the log: programs and files get only JSON. */
export function readyLine(
  { url, studioUrl, platformUrl, metricsPort, graphs, place, member }: Server,
  { settings: { metrics, ...chosen }, nowMs }: { readonly settings: Settings;
    readonly nowMs: number },
): string {
  const fields = { level: 'info', time: timeText(nowMs).replace('+00:00', 'Z'), url,
    version: ownVersion(), note: noteOf(url, chosen)[0], studio: studioUrl,
    graphs: graphs.map(({ graphId, file, loaded }) => ({ id: graphId, file, loaded })), data: place,
    member, traces: platformUrl,
    metrics: metricsPort === undefined ? undefined : `port ${metricsPort} of ${metrics!.host}`,
    message: 'Heddle is ready.' }
  return `${JSON.stringify(fields)}\n`
}

/** Reason why the server has another port than the usual one, if no port was chosen. */
function noteOf(url: string | undefined,
  { port, portIsChosen }: Pick<Settings, 'port' | 'portIsChosen'>): readonly string[] {
  return url === undefined || portIsChosen || Number(new URL(url).port) === port
    ? []
    : [`${port} is taken, so it is the next free one; --port chooses one`]
}
