# expect: E1401 @5:8
import python files

fn main(path: str):
    if files.exists(path):
        print(path)
