/** The height of a row of the time line: taller where fingers choose. */

import { usePhone } from '../parts/room/phone.ts'

/** Height of a row in pixels: 44 on a phone, else 34. */
export const useRowHeight = (): number => usePhone() ? 44 : 34
