import { shownZone } from './format.ts';

/** Choices of this browser, kept across tabs and visits. */

const zoneKey = 'muster.zone';
const themeKey = 'muster.theme';
const keysKey = 'muster.keys';

function stored(key: string): string {
  // Storage may be switched off, as in some private windows.
  try {
    return localStorage.getItem(key) ?? '';
  } catch {
    return '';
  }
}

function store(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // It holds for this tab.
  }
}

export const choices = {
  /** An IANA time zone, in which moments are shown; undefined for the browser's. */
  get zone(): string | undefined {
    return shownZone.name;
  },
  set zone(name: string | undefined) {
    shownZone.name = name;
    store(zoneKey, name ?? '');
  },

  /** Whether single keys act. */
  get hasKeys(): boolean {
    return stored(keysKey) !== 'no';
  },
  set hasKeys(has: boolean) {
    store(keysKey, has ? 'yes' : 'no');
  },

  /** `light` or `dark`; '' as the system has it. */
  get theme(): string {
    return stored(themeKey);
  },
  set theme(name: string) {
    store(themeKey, name);
    applyTheme(name);
  },
};

function applyTheme(name: string): void {
  document.documentElement.style.colorScheme = name === 'light' || name === 'dark' ? name : '';
}

/** Before the first drawing. */
export function applyChoices(): void {
  applyTheme(choices.theme);
  const zone = stored(zoneKey);
  shownZone.name = Intl.supportedValuesOf('timeZone').includes(zone) || zone === 'UTC' ? zone : undefined;
}
