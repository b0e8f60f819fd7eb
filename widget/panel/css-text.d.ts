/** The build hands a style sheet over as its minified text. */
declare module '*.css' {
  const text: string;
  export default text;
}
